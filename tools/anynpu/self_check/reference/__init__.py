# SPDX-License-Identifier: Apache-2.0
"""What operators mean: REFERENCES[name](fields) in float64, by NumPy alone. A function gives the result, or a
dictionary of results by their fields."""

from anynpu.self_check.reference import (
    convolution,
    loss,
    matrix,
    normalization,
    optimizer,
    pointwise,
    pooling,
    reduction,
    shape,
)

PARTS = (pointwise, reduction, matrix, convolution, normalization, loss, pooling, shape, optimizer)
REFERENCES = {name: function for part in PARTS for name, function in part.REFERENCES.items()}
