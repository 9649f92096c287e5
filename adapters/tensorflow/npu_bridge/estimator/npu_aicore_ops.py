# SPDX-License-Identifier: Apache-2.0
"""Operators that run on the cores of the card."""

import tensorflow.compat.v1 as tf

from npu_bridge.estimator.npu_ops import dropout as dropout_v3
from npu_bridge.helper import helper

__all__ = ["centralization", "dropout_v3", "nonzero", "npu_aicore_ops", "prelu"]
npu_aicore_ops = helper.get_gen_ops()


def centralization(x, axes, name=None):
    """`x` less its mean over these axes."""
    with tf.name_scope(name, "Centralization", [x]):
        x = tf.convert_to_tensor(x)
        return x - tf.reduce_mean(x, axes, keepdims=True)


def prelu(x, weight):
    """`x`, and `weight * x` where that is negative. `weight` is one number, or one a channel (the last size of x)."""
    with tf.name_scope("PRelu"):
        x, weight = tf.convert_to_tensor(x), tf.convert_to_tensor(weight)
        return tf.where_v2(x > 0, x, weight * x)


def nonzero(x, transpose=False, output_type=tf.int64, name=None):
    """The places where `x` is not 0, in order: [places, rank of x], or the other way round with `transpose`."""
    with tf.name_scope(name, "NonZero", [x]):
        x = tf.convert_to_tensor(x)
        places = tf.cast(tf.where_v2(x if x.dtype == tf.bool else tf.not_equal(x, 0)), output_type)
        return tf.transpose(places) if transpose else places
