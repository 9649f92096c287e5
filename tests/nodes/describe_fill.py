# SPDX-License-Identifier: Apache-2.0
"""Repeated and counted numbers; shapes computed from shapes."""

import numpy as np
from case import FLOATING, NUMBERS, Case, elements, floats, integers, ints, scalar


def cases():
    for dtype in (*NUMBERS, "bool"):
        x = elements(dtype, 2, 1, 3)
        yield Case("Fill", dims=ints(2, 3), value=scalar(1, dtype))
        yield Case("ZerosLike", x=x)
        yield Case("OnesLike", x=x)
        yield Case("BroadcastTo", input=x, shape=ints(4, 2, 5, 3))
        yield Case("Tile", input=x, multiples=ints(2, 3, 1))
        yield Case("Tile", input=x, multiples=ints(1, 0, 2, dtype="int64"))
    yield Case("Fill", dims=ints(dtype="int64"), value=scalar(7, "float32"))
    yield Case("Empty", shape=ints(2, 3), dtype="float32", init=True)
    yield Case("EnsureShape", input=floats(2, 3), shape=[None, 3])
    yield Case("PlaceholderWithDefault", input=floats(2, 3), shape=[2, 3])
    yield Case("Fill", dims=ints(300, 300), value=scalar(7, "float32"))
    yield Case("Tile", input=floats(2, 3), multiples=ints(1, 1))
    for dtype in ("int32", "int64"):
        for start, limit, delta in ((0, 10, 3), (5, -5, -2), (3, 3, 1), (0, 20000, 1)):
            yield Case("Range", start=scalar(start, dtype), limit=scalar(limit, dtype), delta=scalar(delta, dtype))
    for dtype in ("float32", "float64"):
        yield Case("Range", start=scalar(0.1, dtype), limit=scalar(2.3, dtype), delta=scalar(0.1, dtype))
        yield Case("LinSpace", start=scalar(0.1, dtype), stop=scalar(2.3, dtype), num=scalar(7))
        yield Case("LinSpace", start=scalar(0.1, dtype), stop=scalar(2.3, dtype), num=scalar(1))
    for axis in (-1, 0, 1):
        for dtype in (*FLOATING, "int32", "bool"):
            yield Case("OneHot", indices=integers(3, 4, low=-1, high=6), depth=scalar(5), on_value=scalar(1, dtype),
                       off_value=scalar(0, dtype), axis=axis)  # fmt: skip
    yield Case("OneHot", indices=scalar(2, "int64"), depth=scalar(4), on_value=scalar(3.0, "float32"),
               off_value=scalar(-1.0, "float32"), axis=-1)  # fmt: skip
    for a, b in ((ints(2, 1, 3), ints(5, 3)), (ints(2, 3), ints(2, 3)), (ints(), ints(4)), (ints(1, 1), ints(1, 4))):
        yield Case("BroadcastArgs", s0=a, s1=b)
        yield Case("BroadcastGradientArgs", s0=a, s1=b)
    yield Case("InvertPermutation", x=ints(2, 0, 3, 1))
    yield Case("InvertPermutation", x=np.zeros(0, "int64"))
