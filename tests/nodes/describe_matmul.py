# SPDX-License-Identifier: Apache-2.0
"""Matrix products and inverses."""

import numpy as np
from case import FLOATING, Case, floats


def cases():
    for dtype in FLOATING:
        for a in (False, True):
            for b in (False, True):
                x, y = floats(*((4, 3) if a else (3, 4)), dtype=dtype), floats(*((5, 4) if b else (4, 5)), dtype=dtype)
                yield Case("MatMul", a=x, b=y, transpose_a=a, transpose_b=b, wide=True)
        yield Case("BatchMatMulV2", x=floats(2, 1, 3, 4, dtype=dtype), y=floats(5, 4, 2, dtype=dtype), wide=True)
        yield Case(
            "BatchMatMulV2",
            x=floats(2, 4, 3, dtype=dtype),
            y=floats(2, 5, 4, dtype=dtype),
            adj_x=True,
            adj_y=True,
            wide=True,
        )
    for dtype in ("float32", "float64"):
        for adjoint in (False, True):
            squares = floats(2, 1, 4, 4, dtype=dtype) + 4 * np.eye(4, dtype=dtype)
            yield Case("MatrixInverse", input=squares, adjoint=adjoint)
    yield Case("MatrixInverse", input=floats(0, 3, 3))
    yield Case("BatchMatMul", x=floats(2, 3, 4), y=floats(2, 4, 5))
    yield Case("BatchMatMulV3", x=floats(2, 3, 4), y=floats(2, 4, 5), Tout="float32")
