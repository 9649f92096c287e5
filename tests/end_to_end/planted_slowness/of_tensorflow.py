# SPDX-License-Identifier: Apache-2.0
"""of_tensorflow.py NAME: as of_torch.py, with functions of TensorFlow."""

import sys
import time

import npu_device
import numpy as np
import tensorflow as tf

STEPS = 40


@tf.function
def step(x, weight):
    return tf.reduce_sum(tf.tanh(tf.nn.relu(x @ weight)))


@tf.function
def through_strings(x, weight):
    """The NPU has no strings."""
    y = tf.strings.to_number(tf.strings.as_string(x @ weight))
    return tf.reduce_sum(y @ weight)


def recompile(weight):
    """Each batch has a shape of its own."""
    for i in range(STEPS):
        step(tf.ones([16 + i, 64]), weight)


@tf.function(input_signature=[tf.TensorSpec([None, 64]), tf.TensorSpec([64, 64])])
def any_rows(x, weight):
    """Traced once: batches of any size."""
    for _ in range(50):
        x = tf.tanh(tf.nn.relu(x @ weight) + 1.0)
    return tf.reduce_sum(x)


def shapes(weight):
    """TensorFlow traces nothing anew; the engine plans for each size."""
    for rows in range(16, 16 + STEPS):
        any_rows(tf.constant(np.ones([rows, 64], np.float32)), weight)


@tf.function
def consume(batches, weight):
    total = tf.constant(0.0)
    for batch in batches:
        total += tf.reduce_sum(tf.nn.relu(batch @ weight))
    return total


def data(weight):
    """Each batch takes Python 5 ms, which may have effects: nobody reads it ahead."""

    def slow(i):
        time.sleep(0.005)
        return np.full([64, 64], i, np.float32)

    rows = tf.data.Dataset.range(STEPS * 2).map(lambda i: tf.numpy_function(slow, [i], tf.float32))
    consume(rows.map(lambda x: tf.ensure_shape(x, [64, 64])), weight)


def fallback(weight):
    x = tf.ones([64, 64])
    for _ in range(STEPS * 5):
        through_strings(x, weight)


if __name__ == "__main__":
    npu_device.open().as_default()
    if sys.argv[1] == "shapes":
        any_rows.get_concrete_function()  # before the first operator, where the records' time begins
    globals()[sys.argv[1]](tf.ones([64, 64]) / 64)
