# SPDX-License-Identifier: Apache-2.0
"""Slices at places that only the run knows, and shapes computed from shapes, in whole functions."""

import numpy as np
import pytest
import tensorflow as tf
from case import floats
from engine import EngineError
from traced import Traced, check

X = floats(4, 3, 5)


def test_one_row_by_a_number_of_the_run():
    def f(x, i):
        return x[i], x[:, i], x[i, :, 1 + i], x[tf.newaxis, i]

    t = Traced(f, X, np.int32(0))
    for i in (0, 1, 2, -3):
        t.check(X, np.int32(i))
    with pytest.raises(EngineError, match="out of bounds"):
        t.run(X, np.int32(3))


def test_a_block_of_known_size():
    def f(x, i):
        return tf.slice(x, [i, 0, i + 1], [2, 3, 1])

    for i in (0, 1, 2):
        check(f, X, np.int32(i))


def test_gradients_go_where_the_rows_came_from():
    def f(x, i):
        return tf.gradients(x[i] * 2.0 + x[:, i, :][:3], x)

    for i in (0, 2):
        check(f, X, np.int32(i))


def test_a_loop_over_rows():
    def f(x):
        total = tf.zeros([3, 5])
        for i in tf.range(tf.shape(x)[0]):
            total = total * 0.5 + x[i]
        return total

    check(f, X)


def test_sizes_that_follow_from_places():
    def f(x, i):
        return x[i:], x[: i + 1, ::-1], x[..., i : i + 2]

    for i in (0, 1, 2):
        check(f, X, np.int32(i))


def test_shapes_are_computed_while_planning():
    def f(x):
        rows = tf.shape(x)[0]
        flat = tf.reshape(x, tf.stack([rows * 3, -1]))
        turned = tf.transpose(x, tf.range(tf.rank(x))[::-1])
        whole = tf.reduce_prod(tf.shape(x)[1:])
        return (
            flat,
            turned,
            tf.reshape(x, [rows, whole]),
            tf.zeros(tf.reverse(tf.shape(x), [0])),
            tf.tile(x, [1, rows // 2, 1]),
        )

    check(f, X)
