# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors: positions, elements, size; and classes drawn from a vocabulary."""

import numpy as np
from case import NUMBERS, Case, elements, floats, ints, scalar


def positions(*rows, rank=2):
    return np.array(rows, "int64").reshape(-1, rank)


def dense():
    for dtype in (*NUMBERS, "bool", "uint8", "complex64"):
        values, zero = elements(dtype, 3), np.zeros((), dtype)
        for index in ("int32", "int64"):
            yield Case("SparseToDense", sparse_indices=ints(0, 2, 3, dtype=index), output_shape=ints(5, dtype=index),
                       sparse_values=values, default_value=zero)  # fmt: skip
        yield Case("SparseToDense", sparse_indices=positions([0, 1], [0, 3], [2, 0]),
                   output_shape=ints(3, 4, dtype="int64"), sparse_values=values,
                   default_value=values[:1].reshape(()))  # fmt: skip
    x, one, zero = floats(3), scalar(3, "float32"), scalar(0.5, "float32")
    unordered = {"validate_indices": False, "default_value": zero}
    yield Case("SparseToDense", sparse_indices=ints(3, 1, 3), output_shape=ints(5), sparse_values=x, **unordered)
    for places in (scalar(2), ints(1, 2)):
        yield Case("SparseToDense", sparse_indices=places, output_shape=ints(5), sparse_values=one, default_value=zero)
    yield Case("SparseToDense", sparse_indices=positions(), output_shape=ints(2, 3, dtype="int64"),
               sparse_values=x[:0], default_value=zero)  # fmt: skip


def filled():
    for dtype in (*NUMBERS, "bool"):
        for rows, size in [
            ([[0, 1], [0, 3], [2, 0], [3, 1]], (6, 4)),
            ([[2, 1], [0, 0], [2, 0]], (4, 2)),
            ([[1, 1], [0, 0]], (2, 2)),
            ([], (3, 2)),
            ([], (0, 2)),
        ]:
            yield Case("SparseFillEmptyRows", indices=positions(*rows), values=elements(dtype, len(rows)),
                       dense_shape=np.array(size, "int64"), default_value=np.ones((), dtype))  # fmt: skip
    yield Case("SparseFillEmptyRows", indices=np.int64([[0], [2]]), values=floats(2), dense_shape=np.int64([3]),
               default_value=scalar(7, "float32"))  # fmt: skip
    for dtype in ("float32", "float64"):
        for places in ([0, 1, 3], [4, 0], []):
            yield Case("SparseFillEmptyRowsGrad", reverse_index_map=np.array(places, "int64"),
                       grad_values=floats(5, dtype=dtype))  # fmt: skip


def moved():
    for size in ([2, -1], [3, 4], [2, 3, 2], [12], [-1, 1, 6]):
        yield Case("SparseReshape", input_indices=positions([0, 1], [2, 3], [1, 1]), input_shape=np.int64([3, 4]),
                   new_shape=np.array(size, "int64"))  # fmt: skip
    yield Case("SparseReshape", input_indices=positions(), input_shape=np.int64([0, 4]), new_shape=np.int64([-1, 4]))
    for dtype in (*NUMBERS, "bool"):
        yield Case("SparseReorder", input_indices=positions([2, 1], [0, 3], [2, 0], [1, 5]),
                   input_values=elements(dtype, 4), input_shape=np.int64([3, 6]))  # fmt: skip
    yield Case("SparseReorder", input_indices=positions(), input_values=floats(0), input_shape=np.int64([3, 6]))


def hits():
    for classes, drawn in [([[1], [2], [7]], [2, 1, 5, 2]), ([[1, 5], [2, 1]], [5, 1]), ([[3]], [2]), ([[3]], [])]:
        classes = np.array(classes, "int64")
        yield Case("ComputeAccidentalHits", true_classes=classes, sampled_candidates=np.array(drawn, "int64"),
                   num_true=classes.shape[1])  # fmt: skip


def cases():
    yield from dense()
    yield from filled()
    yield from moved()
    yield from hits()
