# SPDX-License-Identifier: Apache-2.0
"""Importing this makes the dropout of graphs the NPU's, npu_ops.dropout: that of tf.nn.dropout, tf.layers.dropout and
Keras's layers. Masks of a shape of their own (noise_shape), and what runs eagerly, stay TensorFlow's."""

import functools
import numbers

import tensorflow as tf
from keras.src.layers.regularization import dropout as keras_dropout
from keras.src.utils import control_flow_util

from npu_bridge.estimator import npu_ops


def _ours(noise_shape):
    return noise_shape is None and not tf.executing_eagerly()


def _of_layers(theirs):
    @functools.wraps(theirs)
    def call(self, inputs, training=None):
        if not _ours(self._get_noise_shape(inputs)) or (isinstance(self.rate, numbers.Real) and self.rate in (0, 1)):
            return theirs(self, inputs, training)
        return control_flow_util.smart_cond(
            tf.keras.backend.learning_phase() if training is None else training,
            lambda: npu_ops.dropout(inputs, 1 - self.rate, seed=self.seed),
            lambda: tf.identity(inputs),
        )

    return call


def _of_rate(theirs):
    @functools.wraps(theirs)
    def dropout(x, rate, noise_shape=None, seed=None, name=None):
        if not _ours(noise_shape):
            return theirs(x, rate, noise_shape, seed, name)
        return npu_ops.dropout(x, 1 - rate, seed=seed, name=name)

    return dropout


def _of_keep_prob(theirs):
    @functools.wraps(theirs)
    def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
        if not _ours(noise_shape) or (keep_prob is None) == (rate is None):
            return theirs(x, keep_prob, noise_shape, seed, name, rate)
        return npu_ops.dropout(x, 1 - rate if keep_prob is None else keep_prob, seed=seed, name=name)

    return dropout


def npu_convert_dropout():
    """Done by importing this module; again it changes nothing."""
    if hasattr(keras_dropout.Dropout.call, "_npu"):
        return
    for owner, name, around in (
        (keras_dropout.Dropout, "call", _of_layers),
        (tf.nn, "dropout", _of_rate),
        (tf.compat.v1.nn, "dropout", _of_keep_prob),
    ):
        ours = around(getattr(owner, name))
        ours._npu = True
        setattr(owner, name, ours)


npu_convert_dropout()
