# SPDX-License-Identifier: Apache-2.0
"""Sizes that depend on elements."""

import numpy as np
from case import NUMBERS, Case, floats, integers, ints, scalar


def cases():
    for dtype in (*NUMBERS, "bool"):
        x = integers(3, 4, low=0, high=2).astype(dtype)
        if np.dtype(dtype).name != "float16":  # the client has no kernel
            yield Case("Where", condition=x)
        yield Case("DynamicPartition", data=x, partitions=ints(1, 0, 1), num_partitions=3)
        yield Case("DynamicPartition", data=x, partitions=integers(3, 4, low=0, high=3), num_partitions=3)
        yield Case("DynamicStitch", indices=[ints(4, 1), scalar(0), np.array([[2], [3]], "int32")],
                   data=[x[:2], x[2], x[:2, None].copy()])  # fmt: skip
        yield Case("ParallelDynamicStitch", indices=[ints(0, 1), ints(2)], data=[x[:2], x[:1]])
    for dtype in NUMBERS:
        x = integers(12, low=0, high=5).astype(dtype)
        for index in ("int32", "int64"):
            yield Case("Unique", x=x, out_idx=index)
            yield Case("UniqueWithCounts", x=x, out_idx=index)
        yield Case("UniqueV2", x=x, axis=np.zeros(0, "int32"))
        yield Case("UniqueWithCountsV2", x=x, axis=ints(0))
    yield Case("Where", condition=np.zeros((2, 0), bool))
    yield Case("Where", condition=floats(300, 300) > 1.9)
    yield Case("Unique", x=np.zeros(0, "float32"))
    yield Case("Unique", x=np.float32([0.0, -0.0, 1.5]))
    yield Case("DynamicStitch", indices=[ints(0, 1, 2), ints(1)], data=[ints(7, 8, 9), ints(5)])
