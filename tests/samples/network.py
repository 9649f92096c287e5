# SPDX-License-Identifier: Apache-2.0
"""A small network for pictures as ONNX and what it computes, in NumPy: scores of 10 classes and the map before them."""

import numpy as np
from model_file import FLOAT, message, node, value_info

INTS = 7  # of the types of attributes
WEIGHT = np.random.default_rng(5).standard_normal((10, 3, 3, 3)).astype(np.float32)


def onnx(batch, height, width, *results):
    """`results` are of "scores" [batch, 10] and "map" [batch, 10, height, width]; texts are sizes that vary."""
    sizes = {"scores": [batch, 10], "map": [batch, 10, height, width]}
    constant = message(*((1, size) for size in WEIGHT.shape), (2, FLOAT), (8, "weight"), (9, WEIGHT.tobytes()))
    pads = message((1, "pads"), *((8, 1) for _ in range(4)), (20, INTS))
    nodes = [
        node("Conv", ["x", "weight"], "c", pads),
        node("Relu", ["c"], "map"),
        node("GlobalAveragePool", ["map"], "pooled"),
        node("Flatten", ["pooled"], "flat"),
        node("Softmax", ["flat"], "scores"),
    ]
    graph = message(
        *((1, one) for one in nodes), (2, "network"), (5, constant),
        (11, value_info("x", [batch, 3, height, width])), *((12, value_info(name, sizes[name])) for name in results),
    )  # fmt: skip
    return message((1, 8), (2, "tests"), (8, message((2, 13))), (7, graph))


def convolution(x, weight):
    """3 x 3, with a border of zeros."""
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, weight)


def feature_map(x):
    return np.maximum(convolution(x, WEIGHT), 0)


def scores(x):
    pooled = feature_map(x).mean(axis=(2, 3))
    powers = np.exp(pooled - pooled.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
