# SPDX-License-Identifier: Apache-2.0
"""Element-wise nodes."""

import numpy as np
from case import FLOATING, NUMBERS, Case, floats, numbers

UNARY_SIGNED = "Neg Abs Sign Square"
UNARY = "Exp Ceil Floor Erf Sin Cos Tanh Sigmoid Relu Round"
UNARY_POSITIVE = "Log Log1p Sqrt Rsqrt Reciprocal Inv"
BINARY = "AddV2 Sub Mul Maximum Minimum"
TESTS = "Equal NotEqual Less LessEqual Greater GreaterEqual"


def cases():
    for dtype in NUMBERS:
        for op in UNARY_SIGNED.split():
            yield Case(op, x=numbers(dtype, 3, 5))
        for op in BINARY.split():
            yield Case(op, x=numbers(dtype, 3, 1, 4), y=numbers(dtype, 5, 1, seed=1))
        for op in TESTS.split():
            yield Case(op, x=numbers(dtype, 4, 5), y=numbers(dtype, 5, seed=1))
        yield Case("SelectV2", condition=floats(4, 1) > 0, t=numbers(dtype, 4, 3), e=numbers(dtype, 3, seed=1))
    for dtype in FLOATING:
        for op in UNARY.split():
            x = floats(3, 5, dtype=dtype)
            yield Case(op, features=x) if op == "Relu" else Case(op, x=x)
        for op in UNARY_POSITIVE.split():
            yield Case(op, x=floats(3, 5, dtype=dtype, low=0.1))
        yield Case("Add", x=floats(3, dtype=dtype), y=floats(2, 3, dtype=dtype))
        yield Case("RealDiv", x=floats(3, dtype=dtype), y=floats(2, 3, dtype=dtype, low=0.5))
        yield Case("Pow", x=floats(3, dtype=dtype, low=0.1), y=floats(2, 3, dtype=dtype))
        yield Case("Exp", x=np.zeros((0, 3), dtype))
        yield Case("Exp", x=np.array(0.5, dtype))
    truth = floats(4) > 0
    yield Case("LogicalNot", x=truth)
    yield Case("LogicalAnd", x=truth, y=floats(3, 4) > 0)
    yield Case("LogicalOr", x=truth, y=floats(3, 4) > 0)
