# SPDX-License-Identifier: Apache-2.0
"""Cases of comparison, logic, bits, minimum and maximum, and selection."""

import torch
from both import both, edges, unary
from case import ALL, BOOL, COMPLEX, INTEGER, NUMERIC, REAL, T

# Few distinct values, so that some pairs are equal.
COUNT = T(4, 5, values=lambda g: torch.randint(0, 3, (4, 5), generator=g))
NATURAL = T(4, 5, values=lambda g: torch.randint(0, 3, (4, 5), generator=g))
MASK = T(4, 5, dtype=torch.bool)

for name in ("Eq", "Ne", "Gt", "Ge", "Lt", "Le"):
    compare = getattr(torch, name.lower())
    kinds = ALL + COMPLEX if name in ("Eq", "Ne") else ALL
    both(f"{name}Tensor", compare, kinds, self=COUNT, other=NATURAL,
         elementwise=False)  # fmt: skip
    both(f"{name}Scalar", compare, NUMERIC, self=COUNT, other=1, elementwise=False)
    edges(f"{name}Tensor", compare, other=T(16, low=-0.5, high=0.5))
both("LessScalar", torch.lt, NUMERIC, self=COUNT, other=1)

for name in ("And", "Or", "Xor"):
    logical, bitwise = getattr(torch, f"logical_{name.lower()}"), getattr(torch, f"bitwise_{name.lower()}")
    both(f"Logical{name}", logical, ALL + COMPLEX, self=COUNT, other=NATURAL,
         elementwise=False)  # fmt: skip
    both(
        f"Bitwise{name}Tensor",
        bitwise,
        INTEGER + BOOL,
        self=T(4, 5),
        other=T(4, 5),
    )
    both(f"Bitwise{name}Scalar", bitwise, INTEGER, self=T(4, 5), other=6)
    both(f"Bitwise{name}Scalar", bitwise, BOOL, self=T(4, 5), other=True)
unary("LogicalNot", torch.logical_not, ALL)
unary("BitwiseNot", torch.bitwise_not, INTEGER + BOOL)

both("Maximum", torch.maximum, ALL, self=T(4, 5), other=T(4, 5))
both("Minimum", torch.minimum, ALL, self=T(4, 5), other=T(4, 5))
edges("Maximum", torch.maximum, other=T(16))
edges("Minimum", torch.minimum, other=T(16))
both("Clamp", lambda self, min, max: torch.clamp(self, min, max), NUMERIC, self=T(4, 5), min=0, max=1)
both("Clamp", lambda self, min: torch.clamp(self, min), NUMERIC, self=T(4, 5), min=0, max=None)
edges("Clamp", lambda self, max: torch.clamp(self, max=max), min=None, max=0.75)
both("ClampMin", lambda self, min: torch.clamp(self, min), NUMERIC, self=T(4, 5), min=0)
both("ClampMax", lambda self, max: torch.clamp(self, max=max), NUMERIC, self=T(4, 5), max=0)
both("ClampTensor", lambda self, min, max: torch.clamp(self, min, max), NUMERIC, self=T(4, 5), min=T(4, 5), max=T(4, 5))
both("ClampMinTensor", lambda self, min: torch.clamp(self, min), NUMERIC, self=T(4, 5), min=T(4, 5))
both("ClampMaxTensor", lambda self, max: torch.clamp(self, max=max), NUMERIC, self=T(4, 5), max=T(4, 5))

both("SWhere", torch.where, ALL + COMPLEX, condition=MASK, self=T(4, 5), other=T(4, 5))
both("SWhere", torch.where, REAL, elementwise=False, condition=T(4, 1, dtype=torch.bool), self=T(5), other=T(4, 5))
both("MaskedFillScalar", lambda self, mask, value: self.masked_fill(mask, value), ALL + COMPLEX, self=T(4, 5),
     mask=MASK, value=1)  # fmt: skip
both("MaskedFillTensor", lambda self, mask, value: self.masked_fill(mask, value), NUMERIC, self=T(4, 5),
     mask=MASK, value=T(), elementwise=False)  # fmt: skip
both("MaskedScale", lambda self, mask, scale: self * mask * scale, self=T(4, 5), mask=MASK, scale=2.5)

for name in ("IsFinite", "IsPosInf", "IsNegInf", "Signbit"):
    both(name, getattr(torch, name.lower()), REAL + INTEGER, self=T(4, 5))
    edges(name, getattr(torch, name.lower()))


def close(equal_nan):
    return lambda self, other, rtol, atol: torch.isclose(self, other, rtol, atol, equal_nan)


both("IsClose", close(False), REAL, self=COUNT, other=NATURAL, rtol=0.0, atol=0.5, equal_nan=False, elementwise=False)
both("IsClose", close(False), INTEGER, self=COUNT, other=NATURAL, rtol=0.6, atol=0.0, equal_nan=False,
     elementwise=False)  # fmt: skip
edges("IsClose", close(True), other=T(16, values=lambda g: torch.full((16,), float("nan"))), rtol=0.1, atol=0.1,
      equal_nan=True)  # fmt: skip
both("LeftShift", torch.bitwise_left_shift, INTEGER, self=T(4, 5, low=0, high=9), other=T(4, 5, low=0, high=5))
both("LeftShifts", torch.bitwise_left_shift, INTEGER, self=T(4, 5, low=0, high=9), other=2)
both("RightShift", torch.bitwise_right_shift, INTEGER, self=T(4, 5, low=-60, high=60), other=T(4, 5, low=0, high=5))
