# SPDX-License-Identifier: Apache-2.0
"""Views, shapes and casts."""

import numpy as np
from case import NUMBERS, Case, floats, ints, scalar


def cases():
    x = floats(2, 1, 6)
    for op in ("Identity", "StopGradient", "PreventGradient", "Snapshot"):
        yield Case(op, input=x)
    yield Case("IdentityN", input=[x, ints(1, 2)])
    for shape in ((12,), (3, -1), (4, 3, 1), (2, 2, 3)):
        yield Case("Reshape", tensor=x, shape=ints(*shape))
        yield Case("Reshape", tensor=x, shape=ints(*shape, dtype="int64"))
    # Sizes of 0 leave the product on both sides.
    empty = [((2, 0), (-1, 0)), ((2, 0), (0, -1)), ((2, 0, 3), (-1, 0)), ((2, 0, 3), (6, -1)), ((0, 5), (-1, 0, 2))]
    for sizes, shape in [*empty, ((0,), (-1,)), ((0, 3), (-1, 3)), ((), (-1,))]:
        yield Case("Reshape", tensor=np.zeros(sizes, "float32"), shape=ints(*shape))
    for axis in (0, 1, 3, -1, -4):
        yield Case("ExpandDims", input=x, axis=scalar(axis))
    yield Case("Squeeze", input=x, axis=[])
    yield Case("Squeeze", input=x, axis=[-2])
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        yield Case("Transpose", x=x, perm=ints(*order))
    for op in ("Shape", "Size", "Rank"):
        yield Case(op, input=x)
        if op != "Rank":
            yield Case(op, input=x, out_type="int64")
    yield Case("ShapeN", input=[x, floats(4)])
    for source in (*NUMBERS, "bool", "uint8"):
        for target in ("float32", "float16", "int32", "int64", "bool", "uint8"):
            yield Case("Cast", x=floats(3, 4, low=0, high=9).astype(source), DstT=target, Truncate=False)
