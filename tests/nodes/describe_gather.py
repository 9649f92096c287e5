# SPDX-License-Identifier: Apache-2.0
"""Reading and writing at named positions; segments; counts."""

import numpy as np
from case import FLOATING, NUMBERS, Case, elements, floats, integers, ints, scalar


def of_type(dtype):
    x = elements(dtype, 4, 3, 5)
    for kind in ("int32", "int64"):
        yield Case("GatherV2", params=x, indices=ints(3, 0, 0, dtype=kind), axis=scalar(0))
        yield Case("GatherV2", params=x, indices=np.array([[2, 1], [0, 2]], kind), axis=scalar(-2, kind))
        yield Case("GatherNd", params=x, indices=np.array([[2, 1], [0, 2]], kind))
    yield Case("Gather", params=x, indices=integers(2, 3, low=0, high=4))
    yield Case("GatherV2", params=x, indices=scalar(1), axis=scalar(2))
    yield Case("GatherV2", params=x, indices=integers(4, 2, low=0, high=3), axis=scalar(1), batch_dims=1)
    yield Case("GatherV2", params=x, indices=integers(4, 2, low=0, high=5), axis=scalar(2), batch_dims=-1)
    yield Case("GatherNd", params=x, indices=integers(6, 3, low=0, high=3))
    yield Case("GatherNd", params=x, indices=np.zeros((2, 0), "int32"))
    places, rows = np.array([[2], [0], [2]], "int32"), elements(dtype, 3, 3, 5, seed=2)
    yield Case("TensorScatterUpdate", tensor=x, indices=places, updates=rows)
    if dtype == "bool":
        return
    for op in ("TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin"):
        yield Case(op, tensor=x, indices=places, updates=rows, wide=True)
    yield Case("ScatterNd", indices=places, updates=rows, shape=ints(4, 3, 5))
    yield Case(
        "ScatterNd", indices=integers(6, 3, low=0, high=3), updates=rows[0, 0].repeat(2)[:6], shape=ints(3, 3, 5)
    )


def segments(dtype):
    x = (integers if np.dtype(dtype).kind == "i" else floats)(6, 2, 3, dtype=dtype)
    ids = ints(1, 0, -1, 3, 1, 1)
    for op in ("Sum", "Prod", "Max", "Min"):
        wide = op in ("Sum", "Prod")  # an empty segment's largest is the lowest of its type
        yield Case("UnsortedSegment" + op, data=x, segment_ids=ids, num_segments=scalar(5), wide=wide)
        pairs = integers(6, 2, low=0, high=4, dtype="int64")
        yield Case("UnsortedSegment" + op, data=x[:, :, 0].copy(), segment_ids=pairs, num_segments=scalar(4, "int64"),
                   wide=wide)  # fmt: skip
    for op in ("Sum", "Prod", "Max", "Min", "Mean"):
        yield Case("Segment" + op, data=x, segment_ids=ints(0, 0, 2, 2, 2, 5), wide=True)
    if np.dtype(dtype).itemsize < 4:
        return
    numbers = integers(9, low=0, high=6)
    yield Case("Bincount", arr=numbers, size=scalar(5), weights=x.ravel()[:9].copy())
    yield Case("Bincount", arr=numbers, size=scalar(5), weights=np.zeros(0, dtype))
    yield Case("Bincount", arr=numbers.reshape(3, 3), size=scalar(5), weights=x.ravel()[:9].reshape(3, 3).copy())
    yield Case("Bincount", arr=np.ascontiguousarray(numbers.reshape(3, 3).T), size=scalar(5),
               weights=np.zeros(0, dtype))  # fmt: skip
    for binary in (False, True):
        for shape in ((9,), (3, 3)):
            yield Case("DenseBincount", input=numbers.reshape(shape), size=scalar(4), weights=np.zeros(0, dtype),
                       binary_output=binary)  # fmt: skip


def bags(dtype, kind):
    rows, index, ids = floats(7, 3, dtype=dtype), ints(6, 0, 2, 2, 5, dtype=kind), ints(0, 0, 1, 1, 3)
    for weight in ("Sum", "Mean", "SqrtN"):
        yield Case("SparseSegment" + weight, data=rows, indices=index, segment_ids=ids)
        yield Case("SparseSegment" + weight + "WithNumSegments", data=rows, indices=index, segment_ids=ids,
                   num_segments=scalar(5))  # fmt: skip
        yield Case("SparseSegment" + weight + "Grad", grad=floats(4, 3, dtype=dtype), indices=index, segment_ids=ids,
                   output_dim0=scalar(8))  # fmt: skip


def cases():
    for dtype in FLOATING:
        yield from bags(dtype, "int32")
    yield from bags("float32", "int64")
    for dtype in (*NUMBERS, "bool"):
        yield from of_type(dtype)
    for dtype in (*FLOATING, "int32", "int64"):
        yield from segments(dtype)
    yield Case("SegmentSum", data=np.zeros((0, 2), "float32"), segment_ids=np.zeros(0, "int32"))
