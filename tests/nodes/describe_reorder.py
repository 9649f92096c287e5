# SPDX-License-Identifier: Apache-2.0
"""Borders, diagonals, other orders."""

import numpy as np
import tensorflow as tf
from case import FLOATING, NUMBERS, Case, elements, floats, integers, ints, scalar

ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def borders(dtype):
    x = elements(dtype, 3, 4, 5)
    paddings = np.array([[1, 2], [0, 0], [2, 1]], "int32")
    yield Case("Pad", input=x, paddings=paddings)
    yield Case("PadV2", input=x, paddings=paddings.astype("int64"), constant_values=scalar(1, dtype))
    for mode in ("REFLECT", "SYMMETRIC"):
        for sizes in (paddings, paddings[::-1] * [[1, 1], [1, 1], [1, 1]], [[2, 2], [3, 1], [0, 4]]):
            yield Case("MirrorPad", input=x, paddings=np.array(sizes, "int32"), mode=mode)
            if dtype != "bool":
                shape = np.array(x.shape) + np.array(sizes).sum(1)
                yield Case("MirrorPadGrad", input=floats(*shape, low=0, high=9).astype(dtype),
                           paddings=np.array(sizes, "int32"), mode=mode, wide=True)  # fmt: skip


def diagonals(dtype):
    x = elements(dtype, 2, 3, 4)
    padding = scalar(1, dtype)
    yield Case("MatrixDiag", diagonal=x)
    yield Case("MatrixDiagPart", input=x)
    yield Case("MatrixSetDiag", input=x, diagonal=x[:, 0, :3].copy())
    if np.dtype(dtype).name not in ("bool", "bfloat16"):
        yield Case("Diag", diagonal=x[0])
        yield Case("DiagPart", input=np.arange(36).reshape(2, 3, 2, 3).astype(dtype))
    for below, above in ((0, 0), (1, 2), (-1, 1), (2, -1), (-1, -1)):
        yield Case("MatrixBandPart", input=x, num_lower=scalar(below), num_upper=scalar(above))
    for k in (ints(0), ints(1), ints(-2), ints(-1, 1), ints(0, 2), ints(-2, 3), ints(-2, -1)):
        for align in ALIGNMENTS:
            yield Case("MatrixDiagPartV3", input=x, k=k, padding_value=padding, align=align)
    for k, n in ((ints(-1, 1), 3), (ints(-2, 0), 3), (ints(1, 3), 3)):
        for align in ALIGNMENTS:
            for rows, columns in ((-1, -1), (5, -1), (-1, 6)) if k[0] == -1 else ((-1, -1),):
                band = elements(dtype, 2, n, 4)
                yield Case("MatrixDiagV3", diagonal=band, k=k, num_rows=scalar(rows), num_cols=scalar(columns),
                           padding_value=padding, align=align)  # fmt: skip
    for align in ALIGNMENTS:
        band = elements(dtype, 2, 3, 3)
        yield Case("MatrixSetDiagV3", input=x, diagonal=band, k=ints(-1, 1), align=align)
    yield Case("MatrixDiagV2", diagonal=x[:, 0], k=ints(1), num_rows=scalar(-1), num_cols=scalar(-1),
               padding_value=padding)  # fmt: skip
    yield Case("MatrixDiagPartV2", input=x, k=ints(-1, 1), padding_value=padding)
    yield Case("MatrixSetDiagV2", input=x, diagonal=x[:, 0, :3].copy(), k=ints(0))


def orders(dtype):
    x = elements(dtype, 4, 3, 5)
    for axes in (ints(0), ints(-1, 0), ints(), ints(2, dtype="int64")):
        yield Case("ReverseV2", tensor=x, axis=axes)
    yield Case("ReverseSequence", input=x, seq_lengths=ints(2, 0, 5, 1), seq_dim=2, batch_dim=0)
    yield Case("ReverseSequence", input=x, seq_lengths=ints(4, 1, 0, dtype="int64"), seq_dim=0, batch_dim=1)
    yield Case("Roll", input=x, shift=ints(1, -2), axis=ints(0, 2))
    yield Case("Roll", input=x, shift=scalar(7), axis=scalar(-1))
    image = elements(dtype, 2, 4, 6, 8)
    yield Case("SpaceToDepth", input=image, block_size=2)
    yield Case("DepthToSpace", input=image, block_size=2)
    if dtype == "bool":
        return
    blocks, margins = ints(2, 3), np.array([[1, 1], [2, 1]], "int32")
    yield Case("SpaceToBatchND", input=image, block_shape=blocks, paddings=margins)
    yield Case("SpaceToBatchND", input=image, block_shape=ints(2), paddings=np.array([[0, 0]], "int32"))
    wide = elements(dtype, 12, 4, 6, 2)
    yield Case("BatchToSpaceND", input=wide, block_shape=blocks, crops=margins)
    numbers = integers(3, 7).astype(dtype)
    yield Case("TopKV2", input=numbers, k=scalar(3))
    yield Case("TopKV2", input=floats(2, 3, 40).astype(dtype), k=scalar(40))


def channels_first(op, x):
    """The client has no kernel of this layout on the CPU."""
    return lambda: tf.transpose(
        getattr(tf.raw_ops, op)(input=tf.transpose(x, (0, 2, 3, 1)), block_size=2), (0, 3, 1, 2)
    )


def cases():
    for dtype in (*NUMBERS, "bool"):
        yield from borders(dtype)
        yield from orders(dtype)
    for dtype in (*FLOATING, "int32", "bool"):
        yield from diagonals(dtype)
    for op in ("SpaceToDepth", "DepthToSpace"):
        x = floats(2, 8, 4, 6)
        yield Case(op, input=x, block_size=2, data_format="NCHW", oracle=channels_first(op, x))
    for op in ("LowerBound", "UpperBound"):
        for dtype in ("float32", "int64"):
            rows = np.sort(integers(3, 7, dtype=dtype))
            for kind in ("int32", "int64"):
                yield Case(op, sorted_inputs=rows, values=integers(3, 4, dtype=dtype, seed=1), out_type=kind)
    for dtype in ("float32", "float64", "int32", "int64"):
        x = np.arange(-3, 5, dtype=dtype).reshape(2, 4)
        yield Case("Bucketize", input=x, boundaries=[-2.0, 0.5, 2.0, 2.0])
        yield Case("Bucketize", input=x, boundaries=[])
    yield Case("Bucketize", input=np.float32([np.nan, np.inf, -np.inf]), boundaries=[0.0, 1.0])
    scores = floats(6, 5)
    scores[1, 2], scores[2, 0] = np.nan, np.inf
    for kind in ("int32", "int64"):
        targets = ints(0, 1, 2, 3, 9, -1, dtype=kind)
        yield Case("InTopKV2", predictions=scores, targets=targets, k=scalar(3, kind))
        yield Case("InTopK", predictions=scores, targets=targets, k=2)
