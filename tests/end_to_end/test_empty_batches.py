# SPDX-License-Identifier: Apache-2.0
"""Gradients of parameters for a batch without rows are zeros, and not what lay in memory."""

import pytest
import torch
import torch_npu  # noqa: F401
from torch import nn

LAYERS = {
    "group norm": (lambda: nn.GroupNorm(2, 4), (4, 3, 3)),
    "layer norm": (lambda: nn.LayerNorm(4), (4,)),
    "linear": (lambda: nn.Linear(4, 3), (4,)),
    "bilinear": (lambda: nn.Bilinear(4, 4, 3), (4,)),
    "convolution": (lambda: nn.Conv2d(4, 3, 3), (4, 5, 5)),
    "transposed convolution": (lambda: nn.ConvTranspose2d(4, 3, 3), (4, 5, 5)),
    "prelu": (lambda: nn.PReLU(4), (4, 3)),
    "rms norm": (lambda: nn.RMSNorm(4), (4,)),
    "embedding": (lambda: nn.Embedding(5, 4), ()),
}


def gradients(make, shape, device):
    torch.manual_seed(0)
    layer = make().to(device)
    if isinstance(layer, nn.Embedding):
        x = torch.empty(0, dtype=torch.int64, device=device)
    else:
        x = torch.empty(0, *shape, device=device, requires_grad=True)
    # What was freed last is what the gradients get.
    spoilt = [torch.full((count,), torch.nan, device=device) for count in (1, 2, 3, 4, 12, 36, 108) for _ in range(8)]
    del spoilt
    layer(*[x] * (2 if isinstance(layer, nn.Bilinear) else 1)).sum().backward()
    return [parameter.grad.cpu() for parameter in layer.parameters()]


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_of_nothing(name):
    make, shape = LAYERS[name]
    got = gradients(make, shape, "npu")
    assert got and all(torch.equal(one, torch.zeros_like(one)) for one in got), got
