# SPDX-License-Identifier: Apache-2.0
"""Gradients of distances between all pairs, where one side has no batch or fewer batches, against the CPU."""

import pytest
import torch
import torch_npu  # noqa: F401

SHAPES = [((2, 4, 5), (3, 5)), ((4, 5), (2, 3, 5)), ((2, 1, 4, 5), (6, 3, 5)), ((1, 4, 5), (2, 3, 5)), ((4, 5), (3, 5))]


def gradients(shapes, p, device):
    drawn = torch.Generator().manual_seed(1)
    a, b = (torch.randn(shape, generator=drawn).to(device).requires_grad_() for shape in shapes)
    out = torch.cdist(a, b, p=p)
    out.backward(torch.linspace(0, 1, out.numel()).view(out.shape).to(device))
    return a.grad.cpu(), b.grad.cpu()


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_gradients_of_batches_that_are_repeated(shapes, p):
    for got, want in zip(gradients(shapes, p, "npu"), gradients(shapes, p, "cpu"), strict=True):
        # Sums of up to 36 float32 terms, in another order.
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
