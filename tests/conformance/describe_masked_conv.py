# SPDX-License-Identifier: Apache-2.0
"""Cases of convolutions of a channel with the steps before, where a mask may leave steps out; torch's autograd is the
oracle of the gradients."""

import torch
from case import T, absolute, case

HALF = [torch.float32, torch.float16, torch.bfloat16]
STRIDED = ("plain", "transposed", "sliced")


def forward(input, weight, mask):
    taps, channels = weight.shape
    x = torch.nn.functional.pad(input.permute(1, 2, 0), (taps - 1, 0))
    made = torch.nn.functional.conv1d(x, weight.t().unsqueeze(1), groups=channels).permute(2, 0, 1)
    return made if mask is None else made * mask.t().unsqueeze(-1)


def backward(grad, input, weight, mask):
    leaves = [t.clone(memory_format=torch.contiguous_format).requires_grad_() for t in (input, weight)]
    return torch.autograd.grad(forward(*leaves, mask), leaves, grad)


for steps, batch, channels, taps in ((7, 2, 5, 3), (40, 3, 33, 3), (2, 1, 4, 3), (9, 2, 8, 1), (9, 2, 8, 4)):
    for mask in (None, T(batch, steps, dtype=torch.bool)):
        values = {"input": T(steps, batch, channels), "weight": T(taps, channels), "mask": mask, "layouts": STRIDED}
        case("aclnnMaskedCausalConv1d", forward, HALF, terms=absolute(forward), **values)
        case("aclnnMaskedCausalConv1dBackward", backward, HALF, grad=T(steps, batch, channels),
             terms=absolute(backward), **values)  # fmt: skip
