# SPDX-License-Identifier: Apache-2.0
"""Operators that refuse their inputs: the class and the first line are those of TensorFlow's own kernel, which is asked
where no input can make it allocate without bound."""

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
    "concat": lambda: tf.concat([ones(2, 3), ones(3, 2)], 0),
    "conv2d": lambda: tf.nn.conv2d(ones(1, 4, 4, 3), ones(1, 1, 2, 4), 1, "SAME"),
    "cumsum": lambda: tf.cumsum(ones(2, 3), 4),
    "expand_dims": lambda: tf.expand_dims(ones(2), 4),
    "gather": lambda: tf.gather(ones(3), [0, 7]),
    "gather_nd": lambda: tf.gather_nd(ones(3, 2), [[0, 5]]),
    "in_top_k": lambda: tf.math.in_top_k([1, 2], ones(3, 4), 1),
    "matmul": lambda: tf.matmul(ones(2, 3), ones(2, 3)),
    "pack": lambda: tf.stack([ones(2), ones(3)]),
    "reduce": lambda: tf.reduce_sum(ones(2, 3), 4),
    "reverse": lambda: tf.reverse(ones(2, 3), [3]),
    "segment_sum": lambda: tf.math.segment_sum(ones(3), [2, 1, 0]),
    "slice": lambda: tf.slice(ones(3), [2], [5]),
    "softmax_cross_entropy": lambda: tf.nn.softmax_cross_entropy_with_logits(ones(2, 3), ones(2, 4)),
    "sparse_cross_entropy": lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([9, 1], ones(2, 3)),
    "split": lambda: tf.split(ones(5), 2),
    "split_v": lambda: tf.split(ones(5), [2, 2]),
    "squeeze": lambda: tf.squeeze(ones(2, 3), [0]),
    "strided_slice": lambda: ones(3)[5],
    "top_k": lambda: tf.math.top_k(ones(3), 5),
    "transpose": lambda: tf.transpose(ones(2, 3), [0, 0]),
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


def test_a_number_without_bound_is_refused_by_us_alone():
    """TensorFlow's kernel would fill all memory, or end the process, for some of these."""
    for call in (lambda: tf.fill([2**31, 2**31], 1.0), lambda: tf.one_hot([1], 2**31 - 1)[:0] + ones(2),
                 lambda: tf.tile(ones(2), [2**40]), lambda: tf.reshape(ones(2), [2**40, 2**40])):  # fmt: skip
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)):
            call()
    assert (ones(2) + 1.0).numpy().tolist() == [2.0, 2.0]
