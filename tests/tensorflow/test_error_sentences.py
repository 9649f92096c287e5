# SPDX-License-Identifier: Apache-2.0
"""Operators that refuse their inputs: the class and the first line are those of TensorFlow's own kernel."""

import re

import pytest
import tensorflow as tf
from both import on_cpu

raw = tf.raw_ops


def ones(*shape, dtype=tf.float32):
    return tf.ones(shape, dtype)


CALLS = {
    "add": lambda: ones(2, 3) + ones(4),
    "argmax": lambda: tf.argmax(ones(2, 3), 5),
    "batch_matmul": lambda: raw.BatchMatMulV2(x=ones(2, 3, 4), y=ones(3, 4, 5)),
    "bias_add": lambda: raw.BiasAdd(value=ones(2, 3), bias=ones(4)),
    "broadcast_to": lambda: tf.broadcast_to(ones(3), [2, 4]),
    "concat": lambda: tf.concat([ones(2, 3), ones(3, 2)], 0),
    "conv2d": lambda: tf.nn.conv2d(ones(1, 4, 4, 3), ones(1, 1, 2, 4), 1, "SAME"),
    "cumsum": lambda: tf.cumsum(ones(2, 3), 4),
    "expand_dims": lambda: tf.expand_dims(ones(2), 4),
    "fill": lambda: tf.fill([-1], 2.0),
    "gather": lambda: tf.gather(ones(3), [0, 7]),
    "gather_nd": lambda: tf.gather_nd(ones(3, 2), [[0, 5]]),
    "in_top_k": lambda: tf.math.in_top_k([1, 2], ones(3, 4), 1),
    "pad": lambda: tf.pad(ones(2, 2), [[1, -1], [0, 0]]),
    "matmul": lambda: tf.matmul(ones(2, 3), ones(2, 3)),
    "max_pool": lambda: tf.nn.max_pool2d(ones(1, 2, 2, 1), 4, 1, "VALID"),
    "one_hot": lambda: tf.one_hot([1], -2),
    "pack": lambda: tf.stack([ones(2), ones(3)]),
    "range": lambda: tf.range(0, 5, 0),
    "reduce": lambda: tf.reduce_sum(ones(2, 3), 4),
    "reshape": lambda: tf.reshape(ones(6), [4, 2]),
    "reshape_two_open": lambda: tf.reshape(ones(6), [-1, -1]),
    "reverse": lambda: tf.reverse(ones(2, 3), [3]),
    "scatter_nd": lambda: tf.scatter_nd([[9]], ones(1), [4]),
    "segment_sum": lambda: tf.math.segment_sum(ones(3), [2, 1, 0]),
    "slice": lambda: tf.slice(ones(3), [2], [5]),
    "softmax_cross_entropy": lambda: tf.nn.softmax_cross_entropy_with_logits(ones(2, 3), ones(2, 4)),
    "sparse_cross_entropy": lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([9, 1], ones(2, 3)),
    "split": lambda: tf.split(ones(5), 2),
    "split_v": lambda: tf.split(ones(5), [2, 2]),
    "squeeze": lambda: tf.squeeze(ones(2, 3), [0]),
    "strided_slice": lambda: ones(3)[5],
    "tile": lambda: tf.tile(ones(2, 3), [2]),
    "top_k": lambda: tf.math.top_k(ones(3), 5),
    "transpose": lambda: tf.transpose(ones(2, 3), [0, 0]),
    "unsorted_segment_sum": lambda: tf.math.unsorted_segment_sum(ones(3), [0, 1, 9], 2),
    "where": lambda: tf.where([True, False], ones(2, 3), ones(4, 5)),
}


def refusal(call):
    with pytest.raises((tf.errors.OpError, ValueError)) as e:
        call()
    text = re.sub(r"\{\{.*?\}\} ?|\[Op:.*", "", str(e.value))
    return type(e.value), text.strip().splitlines()[0].strip()


@pytest.mark.parametrize("name", CALLS)
def test_the_first_line_is_tensorflows(name):
    assert refusal(CALLS[name]) == on_cpu(refusal, CALLS[name])
