# SPDX-License-Identifier: Apache-2.0
"""Joining and taking apart."""

import numpy as np
from case import NUMBERS, Case, elements, floats, ints, scalar


def cases():
    for dtype in (*NUMBERS, "bool", "uint8"):
        x, y = elements(dtype, 2, 3, 4), elements(dtype, 2, 1, 4, seed=1)
        yield Case("ConcatV2", values=[x, y, x], axis=scalar(1))
        yield Case("ConcatV2", values=[x, y], axis=scalar(-2))
        yield Case("Concat", concat_dim=scalar(0), values=[x, x])
        yield Case("Pack", values=[x, x, x], axis=0)
        yield Case("Pack", values=[x, x], axis=-1)
        yield Case("Unpack", value=x, num=3, axis=1)
        yield Case("Unpack", value=x, num=4, axis=-1)
        yield Case("Split", axis=scalar(2), value=x, num_split=2)
        yield Case("Split", axis=scalar(-3), value=x, num_split=2)
        yield Case("SplitV", value=x, size_splits=ints(1, 2), axis=scalar(1), num_split=2)
        yield Case("SplitV", value=x, size_splits=ints(1, -1, 0, dtype="int64"), axis=scalar(2), num_split=3)
    yield Case("ConcatV2", values=[np.zeros((0, 3), "float32"), floats(2, 3)], axis=scalar(0))
    yield Case("ConcatOffset", concat_dim=scalar(1), shape=[ints(2, 2, 7), ints(2, 3, 7), ints(2, 9, 7)])
    yield Case("Pack", values=[scalar(1), scalar(2)])
