# SPDX-License-Identifier: Apache-2.0
"""Sessions over many runs, many sessions, and runs that do not end as they should. LONG_RUN=100000 makes the first test
that long; `pytest -s` shows the figures."""

import gc
import os
import threading
import weakref

import memory
import npu_device
import numpy as np
import pytest
import tensorflow as tf
from both import session, tf1

LONG = int(os.environ.get("LONG_RUN", "10000"))


def live():
    gc.collect()
    return npu_device.open().live()


def assert_flat(name, step, warm, steps):
    memory.assert_flat(name, step, warm, steps, live)


def network():
    x, y = tf1.placeholder(tf.float32, [None, 8]), tf1.placeholder(tf.int32, [None])
    logits = tf1.layers.dense(tf1.layers.dense(x, 16, activation=tf.nn.relu), 4)
    loss = tf1.losses.sparse_softmax_cross_entropy(y, logits)
    return x, y, loss, tf1.train.AdamOptimizer(0.01).minimize(loss)


@pytest.mark.promise("memory stays flat over 10,000 runs of a session, and over hundreds of sessions")
def test_many_steps():
    with tf.Graph().as_default(), session() as run:
        x, y, loss, train = network()
        text = tf.strings.as_string(loss)
        run.run(tf1.global_variables_initializer())
        feeds = {x: np.random.rand(32, 8), y: np.random.randint(0, 4, 32)}
        assert_flat("steps", lambda _: run.run([train, loss, text], feeds), 500, LONG)


def test_batches_of_any_size():
    sizes = np.random.default_rng(0).integers(1, 60, 900)
    with tf.Graph().as_default(), session() as run:
        x, y, loss, train = network()
        run.run(tf1.global_variables_initializer())

        def step(i):
            run.run([train, loss], {x: np.ones((sizes[i], 8)), y: [1] * sizes[i]})

        assert_flat("any batch", step, 300, 200)


def test_many_sessions():
    with tf.Graph().as_default():
        x, y, loss, train = network()
        big = tf1.get_variable("big", initializer=tf.zeros([1 << 16]))
        queue = tf.queue.FIFOQueue(3, [tf.float32], [[]])
        put, take = queue.enqueue(2.0), queue.dequeue()
        iterator = tf1.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
        initialize = tf1.global_variables_initializer()
        feeds = {x: np.ones((4, 8)), y: np.zeros(4)}

        def step(_):
            with session() as run:
                run.run([initialize, put])
                run.run([train, loss, take, iterator, big], feeds)

        assert_flat("sessions", step, 60, 150)


def test_sessions_that_are_dropped_without_being_closed():
    def step(_):
        with tf.Graph().as_default():
            run = session()
            v = tf1.get_variable("v", initializer=tf.zeros([1 << 18]))
            run.run(v.initializer)
            assert run.run(v).shape == (1 << 18,)
            gone = weakref.ref(run)
            del run, v
        gc.collect()
        assert gone() is None

    assert_flat("dropped", step, 10, 20)


def test_a_graph_that_grows_at_every_step():
    """As scripts do that build operations in their loop. What is compiled stays: the session may run it again."""
    with tf.Graph().as_default(), session() as run:
        v = tf1.get_variable("v", initializer=0.0)
        run.run(v.initializer)
        for i in range(300):
            assert run.run(tf1.assign_add(v, 1.0)) == i + 1
        assert run.run(v) == 300


def in_threads(count, work):
    """What each of them raised."""
    wrong = []

    def guarded(k):
        try:
            work(k)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=guarded, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    return wrong


def test_threads_that_train_while_others_look():
    with tf.Graph().as_default(), session() as run:
        x, y, loss, train = network()
        step = tf1.get_variable("step", initializer=0, use_resource=True)
        count = tf1.assign_add(step, 1)
        run.run(tf1.global_variables_initializer())
        feeds = {x: np.random.rand(16, 8), y: np.random.randint(0, 4, 16)}
        first = run.run(loss, feeds)

        def work(k):
            for i in range(100):
                if k:
                    run.run([train, count], feeds)
                else:
                    assert np.isfinite(run.run(loss, {x: np.ones((i % 5 + 1, 8)), y: [0] * (i % 5 + 1)}))

        assert not in_threads(4, work)
        assert run.run(step) == 300
        assert run.run(loss, feeds) < first


def test_two_sessions_of_two_graphs_at_once():
    def work(k):
        with tf.Graph().as_default(), session() as run:
            v = tf1.get_variable("v", initializer=float(k))
            x = tf1.placeholder(tf.float32, [])
            add, y = tf1.assign_add(v, x), v * 0 + tf.constant(float(k))
            run.run(v.initializer)
            for i in range(100):
                assert run.run(y) == k
                assert run.run(add, {x: 1.0}) == k + i + 1

    assert not in_threads(4, work)


def test_a_session_whose_thread_has_ended():
    kept = []

    def begin(_):
        run = session(graph=tf.Graph())
        with run.graph.as_default():
            v = tf1.get_variable("v", initializer=2.0)
            kept.extend([run, v, tf1.assign(v, v * 2)])
        run.run(v.initializer)
        run.run(kept[2])

    assert not in_threads(1, begin)
    run, v, more = kept
    assert run.run(v) == 4
    assert run.run(more) == 8
    run.close()


def test_feeds_that_raise():
    class Odd:
        def __array__(self, *_, **__):
            raise RuntimeError("no array today")

    with tf.Graph().as_default(), session() as run:
        x = tf1.placeholder(tf.float32, [2])
        v = tf1.get_variable("v", initializer=0.0)
        y = tf1.assign_add(v, tf.reduce_sum(x))
        run.run(v.initializer)
        for _ in range(100):
            with pytest.raises(RuntimeError, match="no array today"):
                run.run(y, {x: Odd()})
            with pytest.raises(ValueError, match="Cannot feed"):
                run.run(y, {x: [[1.0]]})
        assert run.run(y, {x: [1, 2]}) == 3


def test_functions_of_python_that_raise():
    calls = []

    def odd(value):
        calls.append(value)
        raise ValueError("odd value") if value > 0 else KeyError("none")

    with tf.Graph().as_default(), session() as run:
        x = tf1.placeholder(tf.float32, [])
        v = tf1.get_variable("v", initializer=1.0)
        with tf.control_dependencies([tf1.py_func(odd, [x], tf.float32)]):
            y = tf1.assign_add(v, 1.0)
        run.run(v.initializer)
        for _ in range(20):
            with pytest.raises(tf.errors.InvalidArgumentError, match="odd value"):
                run.run(y, {x: 1.0})
        assert len(calls) == 20
        assert run.run(v) == 1
