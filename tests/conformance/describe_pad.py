# SPDX-License-Identifier: Apache-2.0
"""Cases of padding, repetition by counts, and the gradient of unfold."""

import torch
import torch.nn.functional as F
from case import ALL, COMPLEX, REAL, T, case

EVERY = ALL + COMPLEX
SAME = {"out_dtypes": {"out": None}}


def counts(*values):
    return T(1, values=lambda g: torch.tensor(values), dtype=torch.int64)


for padding in ([1, 2], [2, 0, 1, 3], [-1, 2, 0, -2], [1, 1, 1, 1, 1, 1]):
    case("aclnnConstantPadNd", lambda self, padding, value: F.pad(self, padding, value=value), EVERY, self=T(3, 4, 5),
         padding=padding, value=2, **SAME)  # fmt: skip


def _border(name, mode, dims, padding):
    shape = [2, 3, 4, 5, 6][: dims + 2]

    def backward(grad, self, padding):
        with torch.enable_grad():
            x = self.detach().requires_grad_()
            return torch.autograd.grad(F.pad(x, padding, mode), x, grad)[0]

    padded = list(shape)
    for i in range(dims):
        padded[-1 - i] += padding[2 * i] + padding[2 * i + 1]
    case(f"aclnn{name}{dims}d", lambda self, padding: F.pad(self, padding, mode), REAL, self=T(*shape), padding=padding)
    case(f"aclnn{name}{dims}dBackward", backward, REAL, grad=T(*padded), self=T(*shape), padding=padding)


for dims in (1, 2, 3):
    sides = [1, 2, 3, 0, 2, 1][: 2 * dims]
    _border("ReflectionPad", "reflect", dims, sides)
    _border("ReplicationPad", "replicate", dims, sides)

case("aclnnRepeatInterleave", lambda self, repeats: self.repeat_interleave(repeats), EVERY, self=T(2, 3),
     repeats=counts(1, 0, 2, 3, 0, 1), output_size=7, **SAME)  # fmt: skip
case("aclnnRepeatInterleave", lambda self, repeats: self.repeat_interleave(repeats), REAL, self=T(2, 3),
     repeats=counts(2), output_size=12)  # fmt: skip
for dim in (0, 1):
    case("aclnnRepeatInterleaveWithDim", lambda self, repeats, dim: self.repeat_interleave(repeats, dim), EVERY,
         self=T(3, 3, 2), repeats=counts(2, 0, 3), dim=dim, output_size=5, **SAME)  # fmt: skip
case("aclnnRepeatInterleaveTensor", lambda repeats: torch.repeat_interleave(repeats), [torch.int64],
     repeats=counts(2, 0, 3), output_size=5)  # fmt: skip
case("aclnnRepeatInterleaveGrad", lambda grad, repeats, dim: torch.stack(
     [part.sum(dim) for part in grad.split(repeats.tolist(), dim)], dim), REAL, grad=T(4, 5), repeats=counts(2, 0, 3),
     dim=1, layouts=("plain", "transposed"))  # fmt: skip


def _unfold_backward(grad, input_sizes, dim, size, step):
    return torch.ops.aten.unfold_backward(grad, input_sizes, dim, size, step)


case("aclnnUnfoldGrad", _unfold_backward, REAL, grad=T(3, 4, 2, 3), input_sizes=[3, 9, 2], dim=1, size=3, step=2)
case("aclnnUnfoldGrad", lambda grad: grad.sum(), REAL, grad=T(1), input_sizes=[], dim=0, size=1, step=1)
case("aclnnUnfoldGrad", lambda grad: grad.sum(), REAL, grad=T(0), input_sizes=[], dim=0, size=0, step=1)
