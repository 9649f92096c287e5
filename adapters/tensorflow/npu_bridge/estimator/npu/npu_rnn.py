# SPDX-License-Identifier: Apache-2.0
"""A recurrent network of any cell, over inputs of [time, batch, size]."""

import tensorflow.compat.v1 as tf

__all__ = ["npu_dynamic_rnn"]


def npu_dynamic_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """(outputs, last state) of an RNNCell over `inputs`, a tensor of [time, batch, size], a list of one for each step,
    or a tuple of such tensors. The variables are those of tf.nn.static_rnn, and so is what a `sequence_length` does:
    outputs are 0 past it, the state stays."""
    if isinstance(inputs, list):
        inputs = tf.stack(inputs)
    return tf.nn.dynamic_rnn(
        cell,
        inputs,
        sequence_length=sequence_length,
        initial_state=initial_state,
        dtype=dtype,
        time_major=True,
        scope=scope,
    )
