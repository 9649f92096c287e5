# SPDX-License-Identifier: Apache-2.0
"""Nodes on the host whose kernels remember something: what they remember is their session's."""

import numpy as np
import tensorflow as tf
from both import on_both, session, tf1


def sampled(seed=3):
    wanted = tf1.placeholder_with_default(tf.constant([[1], [5]], tf.int64), [2, 1])
    return wanted, tf.random.log_uniform_candidate_sampler(wanted, 1, 4, True, 50, seed=seed)[0]


@on_both
def test_samplers_go_on_through_all_runs_of_a_session():
    wanted, words = sampled()
    _, others = sampled(4)
    doubled = words * 2
    gamma, poisson = tf1.random_gamma([3], 2.0, seed=5), tf1.random_poisson(3.0, [4], seed=6)
    return lambda run: [
        run.run(one) for one in (words, words, doubled, [words, doubled, others], gamma, poisson, gamma)
    ]


def test_each_session_begins_anew():
    with tf.Graph().as_default():
        _, words = sampled()
        with session(False) as cpu:
            expected = [cpu.run(words) for _ in range(3)]
        for _ in range(2):
            with session() as run:
                np.testing.assert_array_equal([run.run(words) for _ in range(3)], expected)


def test_one_iterator_of_two_sessions_and_of_a_closed_one():
    with tf.Graph().as_default():
        numbers = tf1.data.make_one_shot_iterator(tf.data.Dataset.range(10).map(lambda x: x * 2).batch(2))
        element = numbers.get_next()
        with session() as one, session() as other:
            assert [list(run.run(element)) for run in (one, one, other, one)] == [[0, 2], [4, 6], [0, 2], [8, 10]]
        with session() as later:
            rest = [list(later.run(element)) for _ in range(5)]
            assert rest[-1] == [16, 18]
            try:
                later.run(element)
            except tf.errors.OutOfRangeError:
                rest.append(None)
        assert rest[-1] is None


def test_what_another_session_keeps_outlives_one_that_is_closed():
    with tf.Graph().as_default():
        table = tf1.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [7]), -1)
        queue = tf.queue.FIFOQueue(3, [tf.float32], [[]])
        put, take, found = queue.enqueue(2.0), queue.dequeue(), table.lookup(tf.constant(["a", "b"]))
        with session() as run:
            run.run([put, table.initializer])
            with session() as other:
                other.run([put, table.initializer])
            del other
            assert list(run.run(found)) == [7, -1]
            assert run.run(take) == 2
