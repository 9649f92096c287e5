# SPDX-License-Identifier: Apache-2.0
"""Cases of softmax, log_softmax and their gradients (see case.py for the form)."""

import torch
from case import T, case

# Short lines, lines across memory (with and without a full block of 64 columns), a long line, a 0-dim tensor.
SHAPES = [((6, 10), 1), ((6, 10), 0), ((2, 7, 5, 33), 1), ((3, 17, 129), -2), ((3, 5003), -1), ((130, 9), -1), ((), 0)]


def soft(self, dim):
    return torch.softmax(self, dim)


def log_soft(self, dim):
    return torch.log_softmax(self, dim)


def soft_gradient(grad_output, output, dim):
    return torch._softmax_backward_data(grad_output, output, dim, grad_output.dtype)


def log_soft_gradient(grad_output, output, dim):
    return torch._log_softmax_backward_data(grad_output, output, dim, grad_output.dtype)


for shape, dim in SHAPES:
    case("aclnnSoftmax", soft, self=T(*shape, low=-6, high=6), dim=dim)
    case("aclnnLogSoftmax", log_soft, self=T(*shape, low=-6, high=6), dim=dim)
    for name, oracle, low in [
        ("aclnnSoftmaxBackward", soft_gradient, 0),
        ("aclnnLogSoftmaxBackward", log_soft_gradient, -6),
    ]:
        case(name, oracle, grad_output=T(*shape), output=T(*shape, low=low, high=0.1), dim=dim)


def edges(_generator):
    inf, nan = float("inf"), float("nan")
    return torch.tensor([[1.0, -inf, 2.0], [-inf, -inf, -inf], [inf, 0.0, 1.0], [nan, 0.0, 1.0], [200.0, -200.0, 0.0]])


for dim in (0, 1):
    case("aclnnSoftmax", soft, self=T(5, 3, values=edges), dim=dim, layouts=("plain", "transposed"))
    case("aclnnLogSoftmax", log_soft, self=T(5, 3, values=edges), dim=dim, layouts=("plain", "transposed"))
