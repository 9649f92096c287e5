# SPDX-License-Identifier: Apache-2.0
"""Singular vectors are TensorFlow's up to the sign or phase of each pair, and make up the matrix."""

import numpy as np
import pytest
import tensorflow as tf
from case import floats
from engine import Engine, Value, node_of

CLOSE = {"float32": 1e-5, "float64": 1e-12, "complex64": 1e-5, "complex128": 1e-12}


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (6, 6), (1, 4), (20, 17)])
@pytest.mark.parametrize("full", [False, True])
def test_vectors_are_those_of_tensorflow(shape, full, dtype):
    x = floats(*shape, dtype="float64")
    x = (x + 1j * floats(*shape, dtype="float64", seed=3) if np.dtype(dtype).kind == "c" else x).astype(dtype)
    engine = Engine()
    node = node_of("Svd", {"input": x}, {"full_matrices": full})
    s, u, v = (r.numpy() for r in engine.run_node(node, [Value.of(x)], 3))
    assert not engine.host_nodes
    with tf.device("CPU"):
        theirs = tf.raw_ops.Svd(input=x, full_matrices=full)
    least = s.shape[-1]
    turned = lambda a: np.conj(np.swapaxes(a, -1, -2))  # noqa: E731
    for mine, other in ((u, theirs.u.numpy()), (v, theirs.v.numpy())):
        assert mine.shape == other.shape and mine.dtype == other.dtype
        products = np.abs(turned(mine[..., :least]) @ other[..., :least])
        np.testing.assert_allclose(products, np.broadcast_to(np.eye(least), products.shape), atol=CLOSE[dtype] * 10)
        whole = turned(mine) @ mine
        np.testing.assert_allclose(whole, np.broadcast_to(np.eye(whole.shape[-1]), whole.shape), atol=CLOSE[dtype])
    made = u[..., :least] * s[..., None, :] @ turned(v[..., :least])
    np.testing.assert_allclose(made, x, atol=CLOSE[dtype] * np.abs(x).max() * 4)
