# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a program is told in TensorFlow's classes with the program's own line, and the next step works."""

import re

import pytest
import tensorflow as tf
from both import on_cpu

errors = tf.errors
ONE = tf.TensorSpec([None], tf.float32)


class Unlucky(Exception):
    pass


def unlucky(_):
    raise Unlucky("nothing today")


def matmul(x):
    return tf.matmul(x[None, :], tf.ones([2, 2]))  # the line


def gather(x):
    return tf.gather(x, [0, 7])  # the line


def divide(x):
    return tf.constant([6, 7]) // tf.cast(x[:2] * 0.0, tf.int32)  # the line


def check(x):
    return tf.debugging.check_numerics(x / 0.0, "after the division")  # the line


def asserted(x):
    tf.debugging.Assert(tf.reduce_all(x < 0), [x, "is not below zero"])  # the line
    return x


def python(x):
    return tf.py_function(unlucky, [x], tf.float32)  # the line


def reshape(x):
    return tf.reshape(x * 2.0, [tf.cast(x[0], tf.int32) + 7, 2])  # the line


def strings(x):
    return tf.strings.to_number(tf.strings.join(["x", tf.strings.as_string(x[0])]))  # the line


def segments(x):
    return tf.math.segment_sum(x, tf.cast(-x, tf.int32))  # the line


def conv(x):
    image = tf.reshape(x, [1, 1, 1, -1])
    return tf.nn.conv2d(image, tf.ones([1, 1, 2, 4]), 1, "SAME")  # the line


CASES = {
    matmul: "inner sizes differ .3 and 2",
    gather: "holds 7 at position 1",
    divide: "Integer division by zero",
    check: "after the division : Tensor had Inf values",
    asserted: r"assertion failed: \[\[?1 2 3\]? ?\]? \[is not below zero\]",
    python: "Unlucky: nothing today",
    reshape: "3 elements cannot have the shape 8x2",
    strings: "StringToNumberOp could not correctly convert string: x1",
    segments: "segment ids must be >= 0",
    conv: "evenly divisible by filter depth: 3 vs 2",
}


def expected_class(function):
    """What TensorFlow raises on its CPU."""
    with pytest.raises(errors.OpError) as e:
        on_cpu(lambda: tf.function(function, input_signature=[ONE])(tf.constant([1.0, 2.0, 3.0])))
    return type(e.value)


def lines(function):
    first = function.__code__.co_firstlineno
    return [first + i for i in range(1, 4)]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("around", ["called", "in a branch", "in a loop", "in a gradient"])
def test_errors_in_a_graph(function, around):
    def branch(x):
        return tf.cond(tf.size(x) > 0, lambda: tf.cast(function(x), tf.float32), lambda: x)

    def loop(x):
        for _ in tf.range(2):
            x += tf.reduce_sum(tf.cast(tf.function(function)(x), tf.float32))
        return x

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cast(function(x), tf.float32)
        return tape.gradient(y, x, unconnected_gradients="zero"), y

    step = {"called": function, "in a branch": branch, "in a loop": loop, "in a gradient": gradient}[around]
    run = tf.function(step, input_signature=[ONE])
    with pytest.raises(errors.OpError, match=CASES[function]) as e:
        run(tf.constant([1.0, 2.0, 3.0]))
    assert type(e.value) is expected_class(function)
    assert any(f'File "{__file__}", line {n}, in {function.__name__}' in str(e.value) for n in lines(function))
    assert re.search(r"\[Op:__inference_\w+\]", str(e.value))
    assert (tf.ones([2]) + 1.0).numpy().sum() == 4


def test_the_text_of_an_assertion_is_tensorflows():
    def told(x):
        with pytest.raises(errors.InvalidArgumentError) as e:
            tf.debugging.assert_equal(x, tf.constant([1, 3]), "they differ", summarize=4)
        return str(e.value)

    def assertion(x):
        with pytest.raises(errors.InvalidArgumentError, match="assertion failed") as e:
            tf.function(lambda y: tf.debugging.Assert(y[0] > 1, [y, y * 2], summarize=2) and None)(x)
        return re.search(r"assertion failed: .*\]", str(e.value))[0]

    for f in (told, assertion):
        assert f(tf.constant([1, 2])) == on_cpu(lambda f=f: f(tf.constant([1, 2])))


OPERATORS = {
    "inner sizes": lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
    "index": lambda: tf.gather(tf.ones([3]), [5]),
    "division by zero": lambda: tf.constant([1]) // tf.constant([0]),
    "negative power": lambda: tf.math.pow(tf.constant([2]), tf.constant([-1])),
    "two types": lambda: tf.constant(1) + tf.constant(1.0),
    "strings": lambda: tf.constant("a") * tf.constant("b"),
    "truths": lambda: tf.raw_ops.Add(x=tf.constant(True), y=tf.constant(True)),
    "root of an integer": lambda: tf.sqrt(tf.constant(4)),
    "type of an index": lambda: tf.gather(tf.ones([2]), tf.constant([1], tf.uint8)),
    "quantised": lambda: tf.cast(tf.constant([1]), tf.qint8) + tf.cast(tf.constant([1]), tf.qint8),
    "window": lambda: tf.nn.max_pool2d(tf.ones([1, 2, 2, 1]), 5, 1, "VALID"),
    "file": lambda: tf.io.read_file("/nowhere/at/all"),
    "seed": lambda: tf.random.stateless_uniform([2], [1, 2, 3]),
    "broadcast": lambda: tf.ones([2, 3]) + tf.ones([4]),
    "negative size": lambda: tf.zeros([-1]),
    "axis": lambda: tf.reduce_sum(tf.ones([2]), 3),
    "split": lambda: tf.split(tf.ones([5]), 2),
    "singular": lambda: tf.linalg.inv(tf.zeros([2, 2])),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_errors_of_operators(name):
    def raised():
        with pytest.raises(Exception, match=".") as e:  # noqa: B017 - which one, the CPU says
            OPERATORS[name]()
        return e.type

    assert raised() is on_cpu(raised)
    assert (tf.ones([1]) * 2.0).numpy() == 2


def test_integers_wrap_around_as_on_the_cpu():
    def overflowed():
        big = tf.constant([2**31 - 1, -(2**31)])
        wide = tf.constant([2**63 - 1], tf.int64)
        low = tf.constant(-(2**31)) // tf.constant(-1)
        return [t.numpy().tolist() for t in (big + 1, big * 2, -big, tf.abs(big), wide + 1, wide * wide, low)]

    assert overflowed() == on_cpu(overflowed)
    assert tf.cast(tf.constant([300.0, -1.0]), tf.uint8).shape == [2]


def test_a_function_that_was_never_brought():
    name = tf.function(lambda x: x).get_concrete_function(ONE).name
    with pytest.raises((errors.NotFoundError, errors.InvalidArgumentError)):
        tf.raw_ops.PartitionedCall(args=[tf.ones([1])], Tout=[tf.float32], f=type("F", (), {
            "name": name.decode() + "_gone", "add_to_graph": lambda *_: None})())  # fmt: skip
    assert tf.function(lambda x: x + 1.0)(tf.ones([1])).numpy() == 2


def test_an_operator_without_a_gradient_names_itself():
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.raw_ops.ResizeArea(images=tf.reshape(x, [1, 1, -1, 1]), size=[2, 2])
        return tape.gradient(y, x)

    for around in (f, tf.function(f, autograph=False)):
        with pytest.raises(LookupError, match="ResizeArea"):
            around(tf.ones([3]))
    assert (tf.ones([1]) * 2.0).numpy() == 2
