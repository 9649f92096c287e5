# SPDX-License-Identifier: Apache-2.0
"""Cases of powers, exponentials, trigonometry, rounding and division."""

import torch
from both import both, edges, unary
from case import ALL, COMPLEX, INTEGER, NUMERIC, REAL, T

S = T(4, 5, low=-3, high=3)
P = T(4, 5, low=0.5, high=3)


def divide(rounding):
    return lambda self, other: torch.div(self, other, rounding_mode=rounding)


FLOAT = [torch.float32, torch.float16, torch.bfloat16]

# name, range of the inputs, whether complex numbers work
for name, low, high, with_complex in (
    ("Sqrt", 0, 9, True),
    ("Exp", -9, 9, True),
    ("Exp2", -9, 9, False),
    ("Expm1", -3, 3, False),
    ("Log", 0.01, 9, True),
    ("Log2", 0.01, 9, False),
    ("Log10", 0.01, 9, True),
    ("Log1p", -0.9, 9, False),
    ("Sin", -9, 9, True),
    ("Cos", -9, 9, True),
    ("Tan", -1.4, 1.4, True),
    ("Asin", -1, 1, True),
    ("Acos", -1, 1, True),
    ("Atan", -4, 4, True),
    ("Sinh", -4, 4, True),
    ("Cosh", -4, 4, True),
    ("Asinh", -4, 4, True),
    ("Acosh", 1, 5, True),
    ("Atanh", -0.95, 0.95, True),
    ("Erf", -3, 3, False),
    ("Erfc", -3, 3, False),
    ("Erfinv", -0.95, 0.95, False),
    ("Rsqrt", 0.1, 9, False),
):
    function = getattr(torch, name.lower())
    unary(name, function, REAL + (COMPLEX if with_complex else []), low=low, high=high)
    edges(name, function, FLOAT)
unary("Sinc", torch.sinc, low=-4, high=4)
for name in ("Ceil", "Floor", "Round", "Trunc"):
    unary(name, getattr(torch, name.lower()), REAL + INTEGER, low=-9, high=9)
    edges(name, getattr(torch, name.lower()))
unary("Frac", torch.frac, low=-9, high=9)
both("RoundDecimals", lambda self, decimals: torch.round(self.float(), decimals=decimals), [torch.float32],
     self=T(4, 5, low=-900, high=900), decimals=2)  # fmt: skip
both("RoundDecimals", lambda self, decimals: torch.round(self, decimals=decimals), [torch.float64],
     self=T(4, 5, low=-900, high=900), decimals=-2)  # fmt: skip
both("Sin", torch.sin, FLOAT[:1], elementwise=False, self=T(64, low=-1e9, high=1e9))
both("Cos", torch.cos, FLOAT[:1], elementwise=False, self=T(64, low=-1e9, high=1e9))

both("PowTensorTensor", torch.pow, REAL + COMPLEX, self=P, exponent=S)
both("PowTensorTensor", torch.pow, INTEGER, self=T(4, 5), exponent=T(4, 5, low=0, high=2))
for exponent in (0.5, -0.5, 2, 3, -1, -2, 2.5, 0, 1):
    both("PowTensorScalar", torch.pow, REAL, self=P, exponent=exponent)
both("PowTensorScalar", torch.pow, INTEGER, self=T(4, 5), exponent=2)
edges("PowTensorScalar", torch.pow, FLOAT, exponent=0.5)
edges("PowTensorScalar", torch.pow, FLOAT, exponent=3)
edges("PowTensorScalar", torch.pow, FLOAT, exponent=-1.5)
both("PowScalarTensor", lambda self, exponent: torch.pow(self, exponent), self=2.5, exponent=S)

both("FloorDivide", torch.floor_divide, REAL, self=T(4, 5, low=-9, high=9), other=P)
both("FloorDivide", torch.floor_divide, INTEGER, self=T(4, 5), other=T(4, 5, low=1, high=9))
both("FloorDivides", torch.floor_divide, NUMERIC, self=S, other=2)
for mode, rounding in ((0, None), (1, "trunc"), (2, "floor")):
    kinds = REAL + (INTEGER if mode else [])
    dividend, divisor = T(4, 5, low=-9, high=9), T(4, 5, low=1, high=6)
    both("DivMod", divide(rounding), kinds, self=dividend, other=divisor, mode=mode)
    both("DivMods", divide(rounding), kinds, self=dividend, other=2, mode=mode)
both("FmodTensor", torch.fmod, NUMERIC, self=T(4, 5, low=-9, high=9), other=T(4, 5, low=1, high=6))
both("FmodScalar", torch.fmod, NUMERIC, self=T(4, 5, low=-9, high=9), other=2)
both("RemainderTensorTensor", torch.remainder, NUMERIC, self=T(4, 5, low=-9, high=9), other=T(4, 5, low=1, high=6))
both("RemainderTensorScalar", torch.remainder, NUMERIC, self=T(4, 5, low=-9, high=9), other=3)
both("RemainderTensorScalar", torch.remainder, REAL, self=T(4, 5, low=-9, high=9), other=-3)
both("RemainderScalarTensor", torch.remainder, REAL, self=7.5, other=P)
edges("FmodTensor", torch.fmod, FLOAT[:1], other=T(16))
edges("RemainderTensorTensor", torch.remainder, FLOAT[:1], other=T(16))
both("Gcd", torch.gcd, INTEGER, self=T(4, 5, low=-60, high=60), other=T(4, 5, low=-60, high=60))

both("Atan2", torch.atan2, self=S, other=T(4, 5))
edges("Atan2", torch.atan2, FLOAT, other=T(16))
both("LogAddExp", lambda self, other: torch.logaddexp(self.double(), other.double()), ALL, self=S, other=T(4, 5))
both("LogAddExp2", torch.logaddexp2, self=S, other=T(4, 5))
edges("LogAddExp", torch.logaddexp, FLOAT, other=T(16))
both("XLogYTensor", torch.xlogy, self=S, other=P)
both("XLogYScalarOther", torch.xlogy, self=S, other=2.5)
both("XLogYScalarSelf", torch.xlogy, self=1.5, other=P)
edges("XLogYTensor", torch.xlogy, FLOAT, other=T(16, low=0.5, high=2))
both("NanToNum", torch.nan_to_num, self=S, nan=1.5, posinf=3.0, neginf=-3.0)
edges("NanToNum", torch.nan_to_num, nan=1.5, posinf=3.0, neginf=-3.0)
both("Complex", torch.complex, [torch.float32, torch.float64], real=S, imag=T(4, 5))
both("Polar", torch.polar, [torch.float32, torch.float64], abs=P, angle=S)
unary("AngleV2", torch.angle, REAL + COMPLEX)
edges("AngleV2", torch.angle)
