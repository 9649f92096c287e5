# SPDX-License-Identifier: Apache-2.0
"""Cases of basic arithmetic (see case.py for the form)."""

import torch
from both import both, unary
from case import BOOL, COMPLEX, INTEGER, NUMERIC, REAL, T, case

S = T(4, 5)
P = T(4, 5, low=0.5, high=3.0)

both("Add", lambda self, other, alpha: self + alpha * other, NUMERIC + COMPLEX, self=S, other=T(4, 5), alpha=2)
case("aclnnAdd", lambda self, other, alpha: self + alpha * other, REAL, self=T(3, 1, 5), other=T(4, 1), alpha=0.5)
both("Adds", lambda self, other, alpha: self + alpha * other, NUMERIC, self=S, other=3, alpha=1)
case("aclnnAddV3", lambda self, other, alpha: self + alpha * other, REAL, self=1.5, other=S, alpha=2)
both("Sub", lambda self, other, alpha: self - alpha * other, NUMERIC + COMPLEX, self=T(4, 5, low=5, high=12),
     other=T(4, 5, low=0, high=2), alpha=2)  # fmt: skip
# torch has no difference of truth values; the documentation lists them: the number, then whether it is one.
both("Sub", lambda self, other, alpha: self.long() - alpha * other.long() != 0, BOOL, self=S, other=S, alpha=1)
both("Subs", lambda self, other, alpha: self - alpha * other, REAL, self=S, other=1.5, alpha=2)
both("Rsub", lambda self, other, alpha: other - alpha * self, REAL, self=S, other=T(5), alpha=2, elementwise=False)
both("Rsubs", lambda self, other, alpha: other - alpha * self, REAL, self=S, other=1.5, alpha=2)
both("Mul", lambda self, other: self * other, NUMERIC + COMPLEX + BOOL, self=S, other=T(4, 5))
both("Mul", lambda self, other: self * other, REAL, self=S, other=T(4, 1), elementwise=False)
both("Muls", lambda self, other: self * other, NUMERIC + COMPLEX, self=S, other=3)
both("Div", lambda self, other: self / other, REAL + COMPLEX, self=S, other=P)
case("aclnnDiv", lambda self, other: self / other, INTEGER, self=S, other=T(4, 5, low=1, high=9))
both("Divs", lambda self, other: self / other, REAL, self=S, other=3)
unary("Neg", torch.neg, NUMERIC + COMPLEX)
unary("Abs", torch.abs, NUMERIC + COMPLEX)
unary("Sign", torch.sgn, NUMERIC + COMPLEX)
unary("Reciprocal", torch.reciprocal, REAL + COMPLEX, low=0.5, high=3)
both("Addcmul", lambda self, tensor1, tensor2, value: torch.addcmul(self, tensor1, tensor2, value=value), REAL,
     self=S, tensor1=T(4, 5), tensor2=T(4, 5), value=0.5)  # fmt: skip
both("Addcdiv", lambda self, tensor1, tensor2, value: torch.addcdiv(self, tensor1, tensor2, value=value), REAL,
     self=S, tensor1=T(4, 5), tensor2=P, value=0.5)  # fmt: skip
both("Lerp", torch.lerp, REAL, self=S, end=T(4, 5), weight=T(4, 5, low=0, high=1))
both("Lerps", torch.lerp, REAL, self=S, end=T(4, 5), weight=0.75)

for shapes in (((3, 4), (3, 4)), ((3, 4),), ((2, 3, 4), (3, 1), (4,)), ((700, 3), (700, 3), (1, 3)), ((0, 3), (0, 3))):
    case("aclnnSum", lambda tensors: sum(tensors[1:], tensors[0]), NUMERIC + COMPLEX,
         tensors=[T(*shape) for shape in shapes], terms="absolute", layouts=("plain", "transposed", "sliced"),
         out_dtypes={"out": None})  # fmt: skip
