# SPDX-License-Identifier: Apache-2.0
"""Tensors without elements, and single numbers, wherever a node takes them."""

import numpy as np
from case import Case, floats, ints, scalar

NONE, ROWS, COLUMNS = (np.zeros(shape, "float32") for shape in ((0,), (0, 3), (2, 0)))
NO_INTS = np.zeros(0, "int32")
ONE = scalar(2.5, "float32")


def joined():
    yield Case("ConcatV2", values=[ROWS, ROWS], axis=scalar(0))
    yield Case("ConcatV2", values=[COLUMNS, floats(2, 3)], axis=scalar(1))
    yield Case("Pack", values=[COLUMNS, COLUMNS], axis=1)
    yield Case("Pack", values=[ONE, ONE], axis=0)
    yield Case("Unpack", value=COLUMNS, num=2, axis=0)
    yield Case("Split", axis=scalar(1), value=COLUMNS, num_split=3)
    yield Case("SplitV", value=floats(3), size_splits=ints(0, 3, 0), axis=scalar(0), num_split=3)


def selected():
    yield Case("Slice", input=COLUMNS, begin=ints(1, 0), size=ints(1, 0))
    yield Case("StridedSlice", input=COLUMNS, begin=ints(0, 0), end=ints(5, 5), strides=ints(1, -1))
    yield Case(
        "StridedSliceGrad",
        shape=ints(2, 0),
        begin=ints(0),
        end=ints(1),
        strides=ints(1),
        dy=np.zeros((1, 0), "float32"),
    )
    yield Case("GatherV2", params=floats(3, 2), indices=NO_INTS, axis=scalar(0))
    yield Case("GatherV2", params=COLUMNS, indices=ints(1, 0, 1), axis=scalar(0))
    yield Case("GatherV2", params=ROWS, indices=NO_INTS, axis=scalar(0))
    yield Case("GatherNd", params=ROWS, indices=np.zeros((0, 1), "int32"))
    yield Case("ScatterNd", indices=np.zeros((0, 1), "int32"), updates=ROWS, shape=ints(4, 3))
    yield Case("TensorScatterAdd", tensor=floats(2, 3), indices=np.zeros((0, 1), "int32"), updates=ROWS)
    yield Case("OneHot", indices=NO_INTS, depth=scalar(3), on_value=ONE, off_value=ONE)
    yield Case("OneHot", indices=ints(1, 2), depth=scalar(0), on_value=ONE, off_value=ONE)
    yield Case("TopKV2", input=floats(2, 3), k=scalar(0))
    yield Case("TopKV2", input=ROWS, k=scalar(2))
    yield Case("InTopKV2", predictions=ROWS, targets=NO_INTS, k=scalar(1))
    yield Case("Select", condition=NONE > 0, x=NONE, y=NONE)
    yield Case("Select", condition=scalar(False, "bool"), x=ONE, y=ONE)


def moved():
    yield Case("Pad", input=ROWS, paddings=np.array([[1, 1], [0, 2]], "int32"))
    yield Case("Pad", input=ONE, paddings=np.zeros((0, 2), "int32"))
    yield Case("ReverseV2", tensor=ROWS, axis=ints(0, 1))
    yield Case("ReverseV2", tensor=ONE, axis=NO_INTS)
    yield Case("ReverseSequence", input=ROWS, seq_lengths=NO_INTS, seq_dim=1)
    yield Case("Roll", input=COLUMNS, shift=ints(1), axis=ints(1))
    yield Case("Tile", input=ONE, multiples=NO_INTS)
    yield Case("Tile", input=ROWS, multiples=ints(2, 2))
    yield Case("BroadcastTo", input=COLUMNS, shape=ints(3, 2, 0))
    yield Case("BroadcastTo", input=ONE, shape=ints(0, 2))
    yield Case("Fill", dims=ints(0, 2), value=ONE)
    yield Case("DepthToSpace", input=np.zeros((0, 2, 2, 4), "float32"), block_size=2)
    yield Case("MatrixDiag", diagonal=ROWS)
    yield Case("MatrixDiagPart", input=np.zeros((0, 2, 3), "float32"))
    yield Case("MatrixBandPart", input=np.zeros((0, 2, 3), "float32"), num_lower=scalar(0), num_upper=scalar(1))


def counted():
    yield Case("UnsortedSegmentSum", data=ROWS, segment_ids=NO_INTS, num_segments=scalar(2))
    yield Case("UnsortedSegmentMax", data=COLUMNS, segment_ids=ints(0, 1), num_segments=scalar(2))
    yield Case("UnsortedSegmentSum", data=ROWS, segment_ids=NO_INTS, num_segments=scalar(0))
    yield Case("Bincount", arr=NO_INTS, size=scalar(3), weights=NONE)
    yield Case("Bincount", arr=ints(1, 1), size=scalar(0), weights=NONE)
    yield Case("DynamicPartition", data=ROWS, partitions=NO_INTS, num_partitions=2)
    yield Case("DynamicStitch", indices=[NO_INTS, NO_INTS], data=[ROWS, ROWS])
    yield Case("Where", condition=ROWS)
    yield Case("ArgMax", input=ROWS, dimension=scalar(1))
    yield Case("Cumsum", x=ROWS, axis=scalar(0))
    yield Case("Sum", input=ONE, axis=NO_INTS, keep_dims=True)
    yield Case("All", input=COLUMNS > 0, axis=ints(0, 1))
    for op in ("FloorDiv", "FloorMod", "Div"):
        yield Case(op, x=NO_INTS, y=scalar(0))
    for op in ("FloorDiv", "SquaredDifference", "DivNoNan", "Xlogy"):
        yield Case(op, x=COLUMNS, y=ONE)
    yield Case("AddN", inputs=[ONE, ONE, ONE])
    yield Case("Bitcast", input=COLUMNS, type="int32")
    yield Case("CheckNumerics", tensor=NONE, message="")


def cases():
    yield from joined()
    yield from selected()
    yield from moved()
    yield from counted()
