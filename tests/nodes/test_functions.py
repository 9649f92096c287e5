# SPDX-License-Identifier: Apache-2.0
"""Whole functions as TensorFlow traces them: control flow, variables, order, errors, threads, memory. Results and the
variables afterwards are compared with TensorFlow on the CPU, and which nodes had to go there is written down."""

import gc
import threading

import memory
import numpy as np
import pytest
import tensorflow as tf
from case import floats, integers
from engine import EngineError, Value
from traced import Traced, check

X = floats(2, 3)


def variable(value, **options):
    with tf.device("CPU"):
        return tf.Variable(value, **options)


# Calls, branches and loops on tensors.


def test_branch():
    def f(x, up):
        return tf.cond(up, lambda: x + 1.0, lambda: x * 2.0)

    for up in (True, False):
        check(f, X, np.array(up))


def test_branches_of_different_shapes():
    def f(x, up):
        y = tf.cond(up, lambda: tf.reshape(x, [-1]), lambda: x)
        return y * 2.0, tf.shape(y)

    for up in (True, False):
        check(f, X, np.array(up))


def test_case():
    def f(x, i):
        return tf.switch_case(i, [lambda: x + 1.0, lambda: x * 2.0, lambda: -x])

    for i in (0, 1, 2, 7, -1):
        check(f, X, np.int32(i))


def test_loop():
    def f(x, n):
        i = tf.constant(0)
        while i < n:
            x, i = x * 0.5 + 1.0, i + 1
        return x, i

    t = Traced(f, X, np.int32(5)).check()
    t.check(X, np.int32(0))


def test_loop_over_a_range():
    def f(n):
        total = tf.constant(0)
        for i in tf.range(n):
            if i % 3 == 0:
                continue
            if i > 12:
                break
            total += i
        return total

    Traced(f, np.int32(20)).check().check(np.int32(4)).check(np.int32(0))


def test_loop_that_grows_its_tensor():
    def f(x):
        y = x
        for _ in tf.range(3):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None, 3]))])
            y = tf.concat([y, x], 0)
        return y

    check(f, X)


def test_loops_in_loops():
    def f(x):
        total = tf.zeros_like(x)
        for i in tf.range(3):
            j = tf.constant(0)
            while j < i + 1:
                total += x * tf.cast(j, tf.float32)
                j += 1
        return total

    check(f, X)


def test_functions_in_functions():
    @tf.function
    def inner(x, y):
        return x * y + 1.0, y

    @tf.function
    def middle(x):
        a, b = inner(x, x)
        return inner(a, b)[0]

    check(lambda x: middle(x) + inner(x, 2.0)[0], X)


def test_recursion():
    @tf.function
    def again(n, x):
        return x

    def f(n, x):
        return tf.cond(n > 0, lambda: again(n - 1, x) * 2.0, lambda: x)

    t = Traced(f, np.int32(3), X)
    # TensorFlow's tracing cannot call what is being traced: the stand-in becomes the function itself.
    stand_in = next(d for d in t.concrete.graph.as_graph_def().library.function if "again" in d.signature.name)
    itself = type(stand_in).FromString(t.concrete.function_def.SerializeToString())
    itself.signature.name = stand_in.signature.name
    t.engine.add(itself)
    for n in (0, 1, 4, 40):
        np.testing.assert_array_equal(t.run(np.int32(n), X)[0], X * 2.0**n)


def test_a_function_that_returns_its_arguments():
    def f(x, y):
        return y, x, x, tf.constant([1, 2])

    check(f, X, np.int64([4]))


def test_a_call_that_returns_its_argument():
    @tf.function
    def same(x):
        return x

    check(lambda x: (same(x), same(x) + 1.0), X)


def test_loop_variables_exchanged():
    def f(x, y):
        for _ in tf.range(3):
            x, y = y, x
        return x, y

    check(f, X, X + 1)


# Variables.


def test_variable_assigned_in_a_branch():
    v = variable(X)

    def f(x, up):
        if up:
            v.assign(x)
        else:
            v.assign_add(x)
        return v * 2.0

    for up in (True, False):
        check(f, X + 1, np.array(up))


def test_variable_assigned_in_a_case():
    v = variable(X)

    def f(x, i):
        tf.switch_case(i, [lambda: v.assign(x), lambda: v.assign_add(x), lambda: v.assign_sub(x)])
        return v.read_value()

    for i in (0, 1, 2, 7, -1):
        check(f, X + 1, np.int32(i))


def test_whether_a_variable_has_a_value():
    v = variable(X)

    def f():
        tf.raw_ops.DisableCopyOnRead(resource=v.handle)
        return tf.raw_ops.VarIsInitializedOp(resource=v.handle), v.read_value()

    check(f)


def test_variable_assigned_in_a_loop():
    v, count = variable(X), variable(0)

    def f(n):
        for i in tf.range(n):
            v.assign_sub(tf.cast(i, tf.float32) * v)
            count.assign_add(1)
            v.assign(v + 1.0)
        return v.read_value(), count + 0

    check(f, np.int32(3))


def test_variables_passed_in_the_other_order():
    a, b = variable(X), variable(X + 1)

    @tf.function
    def move(to, source):
        to.assign_add(source * 2.0)
        return to - source

    def f():
        first = move(a, b)
        return first, move(b, a)

    check(f)


def test_one_variable_passed_twice():
    a = variable(X)

    @tf.function
    def move(to, source):
        to.assign_add(source * 2.0)
        return to - source

    check(lambda: move(a, a))


def test_reads_before_and_after_writes():
    v = variable(X)

    def f(x):
        before = v.read_value()
        v.assign_add(x)
        between = v.read_value()
        v.assign(between * 2.0)
        v.assign_sub(before)
        return before, between, v.read_value()

    check(f, X)


def test_what_waits_for_a_trigger_waits_for_all_before_it():
    v = variable(X)

    def f(x):
        with tf.control_dependencies([v.assign_add(x)]):
            trigger = tf.raw_ops.ControlTrigger()
        with tf.control_dependencies([trigger]):
            return v.read_value()

    check(f, X)


def test_values_read_stay_when_the_variable_changes_in_place():
    v = variable(X)

    def f():
        before = tf.identity(v)
        for _ in tf.range(4):
            v.assign_add(before)
        return before, v.read_value()

    check(f)


def test_a_result_keeps_its_value():
    v = variable(X)
    t = Traced(lambda: v.assign_add(tf.ones_like(v)).read_value())
    inputs = t.captured
    first = t.engine.run(t.name, inputs, 1)[0]
    seen = first.numpy()
    t.engine.run(t.name, inputs, 1)
    np.testing.assert_array_equal(first.numpy(), seen)


def test_an_argument_assigned_to_a_variable_is_not_written_to():
    v = variable(X)

    def f(x):
        v.assign(x)
        return x + 0.0

    given = np.full((2, 3), 7, "float32")
    t = Traced(f, given).check()
    add = Traced(lambda: v.assign_add(tf.ones_like(v)).read_value())
    gc.collect()
    for _ in range(2):
        add.engine.run(add.name, t.captured, 1)
    np.testing.assert_array_equal(given, np.full((2, 3), 7, "float32"))
    np.testing.assert_array_equal(t.mine[0].read(), given + 2)


def test_variable_that_changes_its_shape():
    v = variable(X, shape=tf.TensorShape(None))

    def f(n):
        for _ in tf.range(n):
            v.assign(tf.concat([v, v], 0))
        return tf.shape(v), v.read_value()

    Traced(f, np.int32(2)).check(times=1)


def test_order_by_control_dependencies():
    v = variable(1.0)

    def f(x):
        with tf.control_dependencies([v.assign(x)]):
            a = v * 2.0
        with tf.control_dependencies([a]):
            v.assign_add(1.0)
        with tf.control_dependencies([v.assign(v * 3.0)]):
            return a, v + x

    check(f, np.float32(5))


def test_training_step():
    w, b = variable(floats(3, 4)), variable(np.zeros(4, "float32"))

    def f(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ w + b) - y))
        for v, g in zip((w, b), tape.gradient(loss, (w, b)), strict=True):
            v.assign_sub(0.1 * g)
        return loss

    check(f, floats(5, 3), floats(5, 4, seed=3))


# What went wrong, and where.


def test_error_in_a_loop_names_its_place():
    @tf.function
    def inner(x, y):
        with tf.name_scope("deep"):
            return tf.linalg.matmul(x, y, name="product")

    def f(x, y):
        z = x
        for _ in tf.range(2):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(z, tf.TensorShape(None))])
            z = inner(z, y)
        return z

    unknown = tf.TensorSpec(None, tf.float32)
    t = Traced(f, X, X, specs=[unknown, unknown])
    with pytest.raises(EngineError) as e:
        t.run(X, X)
    assert e.value.node == "deep/product"
    outer, body, innermost = e.value.functions
    assert outer == t.name
    assert "while_body" in body and "inner" in innermost
    np.testing.assert_allclose(t.run(X, np.eye(3, dtype="float32"))[0], X)


def test_error_on_the_host_is_the_clients():
    def f(x):
        return tf.debugging.check_numerics(tf.math.log(x), "log of x")

    t = Traced(f, X)
    with pytest.raises(EngineError, match="log of x"):
        t.run(np.float32([[-1, 1, 1], [1, 1, 1]]))


def test_an_assertion_stops_the_loop():
    v = variable(0)

    def f(n):
        for i in tf.range(n):
            tf.debugging.assert_less(i, 3)
            v.assign_add(1)
        return v.read_value()

    t = Traced(f, np.int32(5))
    with pytest.raises(EngineError):
        t.run()
    assert t.mine[0].read() == 3


def test_assertions_that_hold_stay_on_the_device():
    def f(x, least):
        tf.debugging.assert_equal(tf.shape(x)[0], 3)
        tf.debugging.assert_greater_equal(x, least)
        tf.raw_ops.Assert(condition=tf.reduce_all(x < 5), data=[x, "too large"], summarize=2)
        return x + least

    x = np.float32([1, 2, 3])
    t = Traced(f, x, np.float32(0), specs=[tf.TensorSpec(None, tf.float32)] * 2).check()
    with pytest.raises(EngineError, match="too large"):
        t.run(np.float32([1, 2, 5]), np.float32(0))
    with pytest.raises(EngineError, match="assertion failed"):
        t.run(x, np.float32(2))
    with pytest.raises(EngineError, match="assertion failed"):
        t.run(np.float32([1, 2]), np.float32(0))
    np.testing.assert_array_equal(t.run(x, np.float32(1))[0], x + 1)


# Many at once, and for long.


def test_four_threads_run_one_function():
    v = variable(np.zeros(3, "int64"))

    def f(x, n):
        y = x
        for i in tf.range(n):
            y = y * 0.5 + tf.cast(i, tf.float32)
        v.assign_add(tf.ones_like(v))
        return y

    t = Traced(f, X, np.int32(6))
    wrong = []

    def work(seed):
        x = floats(2, 3, seed=seed)
        y = x
        for i in range(6):
            y = y * np.float32(0.5) + np.float32(i)
        for _ in range(25):
            if not np.array_equal(t.run(x, np.int32(6))[0], y):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    np.testing.assert_array_equal(t.mine[0].read(), [100, 100, 100])


def test_memory_stays_flat():
    v = variable(floats(64, 64))

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            rows = tf.TensorArray(tf.float32, 0, dynamic_size=True)
            for i in tf.range(2):
                y = y * 0.5 + v + tf.random.uniform([64])
                rows = rows.write(i, y)
        v.assign_sub(y * 0.001)
        return (
            y,
            tf.cond(y[0, 0] > 0.0, lambda: y + 1.0, lambda: tf.reshape(y, [-1])),
            tape.gradient(y, x),
            rows.stack(),
        )

    x = floats(64, 64)
    t = Traced(f, x)
    for _ in range(100):
        t.run()
    gc.collect()
    before, kept, used = memory.of_process(), len(Value.kept), memory.on_device()
    for _ in range(1000):
        t.run()
    gc.collect()
    assert used > 0 and memory.of_process() - before < 2 << 20
    assert (len(Value.kept), memory.on_device()) == (kept, used)


def test_objects_of_the_client_pass_through():
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.constant([1, 2, 3], tf.int64), tf.constant([10.0, 20.0, 30.0])), -1.0
    )

    def f(keys):
        total = tf.zeros([2])
        for _ in tf.range(2):
            total += table.lookup(keys)
        return total

    check(f, integers(2, dtype="int64", low=0, high=5), host=["LookupTableFindV2"])
