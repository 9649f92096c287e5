# SPDX-License-Identifier: Apache-2.0
"""Stacks, by their nodes: how the gradient of a loop gets what the loop had."""

import re
import time

import numpy as np
import pytest
import tensorflow as tf
from engine import EngineError
from traced import Traced, check

raw = tf.raw_ops
X = np.arange(12, dtype="float32").reshape(4, 3) + 1


def stack(dtype=tf.float32, most=-1, name=""):
    return raw.StackV2(max_size=most, elem_type=dtype, stack_name=name)


def push(handle, value):
    return raw.StackPushV2(handle=handle, elem=value)


def pop(handle, dtype=tf.float32):
    return raw.StackPopV2(handle=handle, elem_type=dtype)


def there_and_back(value, turns):
    """A loop pushes value(turn), a second one adds up what comes off, each times its turn."""

    def f(x):
        handle = stack()

        def forth(i, last):
            return i + 1, tf.reduce_sum(push(handle, value(x, i))) + last

        _, last = tf.while_loop(lambda i, _: i < turns(x), forth, (0, 0.0))

        def back(i, total):
            return i - 1, total + tf.cast(i, tf.float32) * tf.reduce_sum(pop(handle))

        _, total = tf.while_loop(lambda i, _: i > 0, back, (turns(x), 0.0))
        return last, total

    return f


def rows(x):
    return tf.shape(x)[0]


def close(handle):
    raw.StackCloseV2(handle=handle)
    return handle


def in_turn(handle, *values):
    for value in values:
        value = push(handle, value)
    return value


OPERATORS = {
    "the last comes first": lambda x: (lambda s: (in_turn(s, x, x[0]), pop(s), pop(s)))(stack()),
    "pop and push again": lambda x: (lambda s: (in_turn(s, x), pop(s), in_turn(s, x[0]), pop(s)))(stack()),
    "up to the limit": lambda x: (lambda s: (in_turn(s, x, 2 * x), pop(s)))(stack(most=2)),
    "any number": lambda x: (lambda s: (in_turn(s, x, 2 * x), pop(s)))(stack(most=-3)),
    "two stacks": lambda x: (lambda s, t: (in_turn(s, x), in_turn(t, 2 * x), pop(s), pop(t)))(stack(), stack()),
    "of integers": lambda x: (lambda s: (in_turn(s, tf.cast(x, tf.int64)), pop(s, tf.int64)))(stack(tf.int64)),
    "of constants": lambda x: (lambda s: (in_turn(s, tf.constant([3.0])), pop(s)))(stack()),
    "close": lambda x: (lambda s: (in_turn(s, x), pop(s), close(s))[:2])(stack()),
    "one loop": there_and_back(lambda x, i: x[i], rows),
    "shapes that change": there_and_back(lambda x, i: x[i:], rows),
    "a shape that is another once": there_and_back(lambda x, i: x[: tf.where(i == 2, 1, 3)], rows),
    "no turn": there_and_back(lambda x, i: x[i], lambda x: rows(x) - 4),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operator(name):
    check(OPERATORS[name], X)


def test_branches_share_a_stack():
    def f(x):
        handle = stack()
        for i in range(3):
            tf.cond(x[i, 0] > 3, lambda i=i: push(handle, x[i]), lambda i=i: push(handle, -x[i]))
        return tf.cond(x[0, 0] > 0, lambda: pop(handle), lambda: x[0]), pop(handle), pop(handle)

    check(f, X)


def test_values_are_not_those_of_a_variable_that_moved_on():
    v = tf.Variable(X)

    def f(x):
        handle = stack()
        push(handle, v.read_value())
        v.assign_add(x)
        return pop(handle), v.read_value()

    check(f, X)


WRONG = {
    "pop of nothing": lambda x: pop(stack()),
    "pop of nothing, named": lambda x: pop(stack(name="mine")),
    "too many": lambda x: (lambda s: (in_turn(s, x, x), pop(s))[1])(stack(most=1)),
    "push after the end": lambda x: (lambda s: (close(s), in_turn(s, x), pop(s))[2])(stack()),
    "pop after the end": lambda x: (lambda s: (in_turn(s, x), close(s), pop(s))[2])(stack()),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_is_refused_in_the_same_words(name):
    t = Traced(WRONG[name], X)
    with pytest.raises(tf.errors.InvalidArgumentError) as theirs:
        t.wanted()
    with pytest.raises(EngineError) as mine:
        t.run()
    words = re.search(r"Stack\[\w+\] [^\n]*", theirs.value.message)[0].split(" [Op:")[0]
    nameless = lambda text: re.sub(r"\[(mine)?\w*\]", r"[\1]", text)  # noqa: E731
    assert nameless(words) in nameless(str(mine.value))
    assert not t.engine.host_nodes


def test_a_stack_holds_one_type():
    t = Traced(lambda x: (lambda s: (push(s, tf.cast(x, tf.int32)), pop(s))[1])(stack()), X)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Must have type 1 but got 3"):
        t.wanted()
    with pytest.raises(EngineError, match="Must have type 1 but got 3: the stack holds float, and int32 is pushed"):
        t.run()


def test_an_array_is_no_stack():
    def f(x):
        array, _ = raw.TensorArrayV3(size=1, dtype=tf.float32)
        return pop(array)

    with pytest.raises(EngineError, match="Expected a stack, got the handle of array"):
        Traced(f, X).run()


def test_a_turn_costs_the_same_in_a_long_loop():
    t = Traced(there_and_back(lambda x, i: x[0], lambda x: tf.cast(x[0, 0], tf.int32)), X)

    def fastest(turns):
        took = []
        for _ in range(5):
            start = time.perf_counter()
            t.run(np.full_like(X, turns))
            took.append(time.perf_counter() - start)
        return min(took)

    fastest(100)
    assert fastest(2000) < 60 * fastest(100)
