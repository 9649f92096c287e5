# SPDX-License-Identifier: Apache-2.0
"""What wide models and word vectors make of sparse tensors and drawn classes, by TensorFlow's own functions."""

import numpy as np
import pytest
import tensorflow as tf
from engine import EngineError
from traced import Traced, check

TABLE = np.random.default_rng(3).normal(size=(20, 6)).astype("float32")


@pytest.mark.parametrize("combiner", ["mean", "sum", "sqrtn"])
def test_bags_of_which_some_are_empty(combiner):
    v = tf.Variable(TABLE)
    places = np.int64([[0, 0], [0, 2], [2, 1], [4, 0], [4, 1], [4, 2]])

    def f(places, ids, weights):
        bags = tf.SparseTensor(places, ids, [6, 3])
        weighted = tf.SparseTensor(places, weights, [6, 3])
        with tf.GradientTape() as tape:
            out = tf.nn.safe_embedding_lookup_sparse(v, bags, weighted, combiner=combiner)
            loss = tf.reduce_sum(out * out)
        gradient = tape.gradient(loss, v)
        return out, tf.scatter_nd(gradient.indices[:, None], gradient.values, [20, 6])

    specs = [tf.TensorSpec([None, 2], tf.int64), tf.TensorSpec([None], tf.int64), tf.TensorSpec([None], tf.float32)]
    t = Traced(f, places, np.int64([3, 9, 3, 0, 19, 5]), np.float32([1, 2, 0.5, 1, 3, 0.25]), specs=specs)
    t.check()
    t.check(places[:3], np.int64([1, 2, -1]), np.float32([1, 1, 1]))


def test_a_loss_over_drawn_classes():
    weights, biases = tf.Variable(TABLE), tf.Variable(TABLE[:, 0])

    def f(x, labels):
        with tf.GradientTape() as tape:
            loss = tf.nn.sampled_softmax_loss(weights, biases, labels, x, num_sampled=8, num_classes=20, seed=4)
        gradient = tape.gradient(loss, weights)
        return loss, tf.scatter_nd(gradient.indices[:, None], gradient.values, [20, 6])

    Traced(f, TABLE[:5] + 1, np.int64([[0], [3], [1], [19], [0]])).check(times=3)


def test_positions_that_come_twice_are_refused():
    def f(places):
        return tf.raw_ops.SparseToDense(
            sparse_indices=places, output_shape=[5], sparse_values=[1.0, 2.0], default_value=0.0
        )

    with pytest.raises(EngineError, match=r"indices\[1\] = \[3\] is repeated"):
        Traced(f, np.int32([3, 3])).run()


def test_a_sparse_tensor_as_a_dense_one():
    def f(places, values):
        wide = tf.sparse.reorder(tf.sparse.reshape(tf.SparseTensor(places, values, [4, 3]), [2, -1]))
        return tf.sparse.to_dense(wide, default_value=-1.0), wide.indices

    check(f, np.int64([[3, 1], [0, 2], [1, 0]]), np.float32([1, 2, 3]))
