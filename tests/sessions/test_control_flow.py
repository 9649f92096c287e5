# SPDX-License-Identifier: Apache-2.0
"""Loops and branches as TensorFlow 1 writes them (Switch, Merge, Enter, Exit, NextIteration), and their gradients."""

import numpy as np
import pytest
import tensorflow as tf
from both import on_both, session, tf1


@on_both
def test_a_branch_and_one_in_it():
    p, x = tf1.placeholder(tf.bool, []), tf1.placeholder(tf.float32, [3])
    w = tf1.Variable([1.0, 2.0, 3.0])
    y = tf.cond(p, lambda: x * w, lambda: tf.cond(x[0] > 2.0, lambda: x + w, lambda: x - w))
    gradients = tf1.gradients(y, [w, x])

    def drive(run):
        run.run(tf1.global_variables_initializer())
        return [run.run([y, gradients], {p: q, x: v}) for q in (True, False) for v in ([1.0, 1, 1], [3.0, 4, 5])]

    return drive


@on_both
def test_a_branch_that_writes():
    p = tf1.placeholder(tf.bool, [])
    w = tf1.Variable([1.0, 2.0])
    written = tf.cond(p, lambda: tf1.assign_add(w, [1.0, 1.0]), lambda: tf.identity(w))

    def drive(run):
        run.run(tf1.global_variables_initializer())
        return [(run.run(written, {p: q}), run.run(w)) for q in (True, False, True)]

    return drive


@on_both
def test_the_first_of_several_cases():
    x = tf1.placeholder(tf.float32, [])
    y = tf.case([(x < 1.0, lambda: x * 10), (x < 2.0, lambda: x * 100)], default=lambda: -x)
    chosen = tf.switch_case(tf.cast(x, tf.int32), [lambda: x + 1, lambda: x + 2, lambda: x + 3])
    return lambda run: [run.run([y, chosen], {x: v}) for v in (0.5, 1.5, 2.5)]


@on_both
def test_a_loop_of_two_variables_and_its_gradient():
    n, w = tf1.placeholder(tf.int32, []), tf1.Variable(1.1)
    i, a = tf1.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.sin(a) * w + a), [0, 1.0])
    gradient = tf1.gradients(a, w)

    def drive(run):
        run.run(tf1.global_variables_initializer())
        return [run.run([a, i, gradient], {n: k}) for k in (0, 1, 5)]

    return drive


@on_both
def test_a_loop_in_a_loop_and_their_gradient():
    x = tf1.placeholder(tf.float32, [3])

    def inner(i, a):
        return i + 1, tf1.while_loop(lambda j, b: j < i + 1, lambda j, b: (j + 1, tf.tanh(b) * x + b), [0, a])[1]

    y = tf1.while_loop(lambda i, a: i < 3, inner, [0, x])[1]
    gradient = tf1.gradients(y, x)
    return lambda run: run.run([y, gradient], {x: [0.1, 0.5, -1.0]})


@on_both
def test_a_branch_in_a_loop():
    n = tf1.placeholder(tf.int32, [])

    def body(i, a):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a + 1.0, lambda: a * 2.0)

    y = tf1.while_loop(lambda i, a: i < n, body, [0, 1.0])[1]
    return lambda run: [run.run(y, {n: k}) for k in (0, 3, 6)]


@on_both
def test_a_loop_in_a_branch_that_writes_a_variable():
    p, v = tf1.placeholder(tf.bool, []), tf1.Variable(0.0, use_resource=True)

    def add(i):
        with tf.control_dependencies([v.assign_add(tf.cast(i, tf.float32))]):
            return i + 1

    y = tf.cond(p, lambda: tf1.while_loop(lambda i: i < 4, add, [1]), lambda: tf.constant(-1))

    def drive(run):
        run.run(tf1.global_variables_initializer())
        return [(run.run(y, {p: q}), run.run(v)) for q in (True, False, True)]

    return drive


@on_both
def test_arrays_of_a_loop():
    x = tf1.placeholder(tf.float32, [None, 2])
    rows = tf.TensorArray(tf.float32, tf.shape(x)[0]).unstack(x)

    def body(i, out):
        return i + 1, out.write(i, tf.cumsum(rows.read(i)) * tf.cast(i, tf.float32))

    out = tf1.while_loop(lambda i, _: i < tf.shape(x)[0], body, [0, tf.TensorArray(tf.float32, 1, dynamic_size=True)])[
        1
    ]
    y = out.stack()
    gradient = tf1.gradients(y, x)
    return lambda run: run.run([y, gradient], {x: [[1.0, 2], [3, 4], [5, 6]]})


@on_both
def test_map_fn_and_scan():
    x = tf1.placeholder(tf.float32, [None, 2])
    mapped = tf.map_fn(lambda row: tf.reduce_sum(row) * row, x)
    summed = tf.scan(lambda a, row: a * 0.5 + row, x)
    return lambda run: run.run([mapped, summed, tf1.gradients(summed, x)], {x: np.arange(8.0).reshape(4, 2)})


@on_both
def test_control_flow_of_version_2_in_a_session():
    n = tf1.placeholder(tf.int32, [])
    tf1.enable_control_flow_v2()
    try:
        y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 1.5), [0, tf.constant(1.0)])[1]
        z = tf.cond(y > 2.0, lambda: y, lambda: -y)
        gradient = tf1.gradients(z, y)
    finally:
        tf1.disable_control_flow_v2()
    return lambda run: [run.run([y, z, gradient], {n: k}) for k in (1, 4)]


def test_what_no_branch_gave_is_refused_by_name():
    with tf.Graph().as_default():
        p, x = tf1.placeholder(tf.bool, []), tf.constant(2.0)
        taken = tf.raw_ops.Switch(data=x, pred=p)[1] * 3.0
        with session() as run:
            assert run.run(taken, {p: True}) == 6
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"does not have value.*branch.*no Merge"):
                run.run(taken, {p: False})


def test_what_a_branch_that_is_not_taken_would_give_is_missing():
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, [])
        low, high = tf.raw_ops.Switch(data=x, pred=x > 1.0)
        taken = high * 3.0
        with session() as run:
            assert run.run([taken, high], {x: 2.0}) == [6, 2]
            assert run.run(low, {x: 0.5}) == 0.5
            for fetch in (taken, high):
                with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value.*not taken.*no Merge"):
                    run.run(fetch, {x: 0.5})


@on_both
def test_a_loop_in_a_branch_and_its_gradient():
    x, w = tf1.placeholder(tf.float32, [3]), tf1.get_variable("w", initializer=[0.5, 1.0, -0.3])
    inner = lambda: tf1.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a) * w + x), [0, x])[1]  # noqa: E731
    y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.cond(x[0] > 1.0, inner, lambda: x * w), lambda: -x)
    gradients = tf1.gradients(y, [x, w])

    def drive(run):
        run.run(tf1.global_variables_initializer())
        return [run.run([y, gradients], {x: v}) for v in ([2.0, 0.5, 0.1], [0.5, 0.4, 0.2], [-1.0, 0.1, 0.2])]

    return drive


@on_both
def test_branches_that_a_feed_decides_and_one_in_a_branch_that_is_not_taken():
    p, q, x = tf1.placeholder(tf.bool, []), tf1.placeholder_with_default(False, []), tf1.placeholder(tf.float32, [2])
    y = tf.cond(p, lambda: tf.cond(q, lambda: x * 2, lambda: x * 3), lambda: tf.cond(x[0] > 1, lambda: x, lambda: -x))
    z = tf.cond(tf.logical_not(p), lambda: y + 1, lambda: y - 1)
    gradient = tf1.gradients(z, x)
    feeds = [{p: a, x: [v, 3.0]} for a in (True, False) for v in (0.0, 2.0)]
    open_one = tf.cond(x[1] > 2.0, lambda: tf.cond(q, lambda: x + 1, lambda: x + 2), lambda: x + 3)

    def drive(run):
        decided = [run.run([z, gradient], one | more) for one in feeds for more in ({}, {q: True}, {q: False})]
        return decided, [run.run(open_one, {x: [0.0, v]} | more) for v in (0.0, 3.0) for more in ({}, {q: True})]

    return drive


def test_a_merge_of_no_condition_is_refused_by_name():
    with tf.Graph().as_default():
        y = tf.raw_ops.Merge(inputs=[tf.constant(1.0), tf.constant(2.0)], name="joined")[0]
        with (
            session() as run,
            pytest.raises(tf.errors.InvalidArgumentError, match="joined.*two sides of one condition"),
        ):
            run.run(y)
