# SPDX-License-Identifier: Apache-2.0
"""Parts of tensors, and the gradients of taking them."""

import numpy as np
from case import NUMBERS, Case, elements, floats, ints

MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
# What stands in the brackets, by position: x[1:4:2, …, None, 3].
INDEXES = (
    (slice(1, 3),), (slice(None), slice(None, None, 2)), (slice(None, None, -1),), (slice(3, 0, -2), slice(-2, None)),
    (1,), (-1, slice(1, 2)), (slice(None), 2), (Ellipsis, 0), (Ellipsis, slice(1, 4)), (0, Ellipsis, slice(None, 2)),
    (None, slice(1, 3)), (slice(None), None, 1), (Ellipsis, None), (None, Ellipsis, 2, None), (1, 2, 3),
    (slice(3, 1),), (slice(-100, 100),), (slice(5, 9),), (Ellipsis,),
    (slice(None, None, 3), Ellipsis, slice(4, None, -1)),
)  # fmt: skip


def spelled(index):
    """begin, end, strides and masks of an index."""
    begin, end, step, masks = [], [], [], dict.fromkeys(MASKS, 0)
    for i, entry in enumerate(index):
        bit, simple = 1 << i, entry is None or entry is Ellipsis or isinstance(entry, int)
        if entry is None:
            masks["new_axis_mask"] |= bit
        elif entry is Ellipsis:
            masks["ellipsis_mask"] |= bit
        elif isinstance(entry, int):
            masks["shrink_axis_mask"] |= bit
        else:
            masks["begin_mask"] |= bit * (entry.start is None)
            masks["end_mask"] |= bit * (entry.stop is None)
        first = entry if isinstance(entry, int) else 0
        begin.append(first if simple else entry.start or 0)
        end.append(first + 1 if simple else entry.stop or 0)
        step.append(1 if simple else entry.step or 1)
    return begin, end, step, masks


def cases():
    for dtype in (*NUMBERS, "bool"):
        x = elements(dtype, 4, 3, 5)
        yield Case("Slice", input=x, begin=ints(1, 0, 2), size=ints(2, -1, 3))
        yield Case("Slice", input=x, begin=ints(0, 0, 0, dtype="int64"), size=ints(4, 0, 5, dtype="int64"))
        yield Case("StridedSlice", input=x, begin=ints(3, 1), end=ints(0, 3), strides=ints(-1, 1))
    x = floats(4, 3, 5)
    for index in INDEXES:
        begin, end, step, masks = spelled(index)
        part = x[index]
        for dtype in ("int32", "int64"):
            where = {"begin": ints(*begin, dtype=dtype), "end": ints(*end, dtype=dtype)}
            yield Case("StridedSlice", input=x, **where, strides=ints(*step, dtype=dtype), **masks)
        yield Case("StridedSliceGrad", shape=ints(4, 3, 5), begin=ints(*begin), end=ints(*end), strides=ints(*step),
                   dy=np.array(part, order="C"), **masks)  # fmt: skip
        yield Case("TensorStridedSliceUpdate", input=x, begin=ints(*begin), end=ints(*end), strides=ints(*step),
                   value=np.array(part + 9, "float32", order="C"), **masks)  # fmt: skip
