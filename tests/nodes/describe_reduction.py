# SPDX-License-Identifier: Apache-2.0
"""Reductions, positions of extremes, running sums and products."""

import numpy as np
from case import FLOATING, NUMBERS, Case, floats, integers, ints, numbers, scalar


def with_nan(*shape):
    x = floats(*shape)
    x[..., 1], x[0, 0] = np.nan, np.inf
    x[-1] = np.nan
    return x


def reductions(dtype):
    for op in ("Sum", "Mean", "Prod", "Max", "Min"):
        x = numbers(dtype, 3, 4, 5)
        wide = op in ("Sum", "Mean", "Prod")
        if op == "Prod" and np.dtype(dtype).kind != "i":  # 60 factors that no half underflows with
            x = floats(3, 4, 5, dtype=dtype, low=0.7, high=1.4)
        for axis in (ints(0), ints(2), ints(-1, 0), ints(0, 1, 2), ints(), scalar(1), ints(1, dtype="int64")):
            yield Case(op, input=x, axis=axis, wide=wide)
        yield Case(op, input=x, axis=ints(1, 2), keep_dims=True, wide=wide)
    for op in ("ArgMax", "ArgMin"):
        for axis in (0, 1, -1):
            yield Case(op, input=x, dimension=scalar(axis))
        yield Case(op, input=integers(6, 7, dtype="int32").astype(dtype), dimension=scalar(1), output_type="int32")
    for op in ("Cumsum", "Cumprod"):
        for exclusive in (False, True):
            for reverse in (False, True):
                yield Case(op, x=x, axis=scalar(1), exclusive=exclusive, reverse=reverse, wide=True)


def cases():
    for dtype in NUMBERS:
        yield from reductions(dtype)
    for dtype in FLOATING:
        yield Case("EuclideanNorm", input=floats(3, 4, 5, dtype=dtype), axis=ints(0, 2), keep_dims=True)
        yield Case("EuclideanNorm", input=floats(3, 4, dtype=dtype), axis=ints())
    truth = floats(3, 4) > 0.3
    for op in ("All", "Any"):
        for axis in (ints(0), ints(-1), ints(0, 1), ints()):
            yield Case(op, input=truth, axis=axis)
        yield Case(op, input=np.zeros((2, 0), bool), axis=ints(1), keep_dims=True)
    for op in ("Sum", "Prod", "Max", "Min", "Mean"):
        yield Case(op, input=np.zeros((2, 0, 3), "float32"), axis=ints(1))
        yield Case(op, input=np.array(2.5, "float32"), axis=ints())
    for op in ("Max", "Min"):
        yield Case(op, input=np.zeros((2, 0), "int32"), axis=ints(1))
    for op in ("ArgMax", "ArgMin"):
        yield Case(op, input=with_nan(4, 5), dimension=scalar(1))
    yield Case("Sum", input=with_nan(4, 5), axis=ints(1))
    for op in ("Cumsum", "Cumprod"):
        yield Case(op, x=np.zeros((2, 0), "float32"), axis=scalar(1), exclusive=True)
