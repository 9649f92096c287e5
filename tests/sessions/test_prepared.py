# SPDX-License-Identifier: Apache-2.0
"""Runs that a session has met take a short way; what it gives and raises is what the long way does."""

import collections

import numpy as np
import pytest
import tensorflow as tf
from both import on_both, session, tf1
from npu_device.session import iterations


def placeholders():
    x, n = tf1.placeholder(tf.float32, [None, 2]), tf1.placeholder(tf.int32, [])
    return x, n, x * 2.0, n + 1


def again(run, fetches, feeds=None, times=3):
    return [run.run(fetches, feeds) for _ in range(times)]


Pair = collections.namedtuple("Pair", "first second")


@on_both
def test_every_form_of_fetches_and_feeds():
    x, n, y, m = placeholders()
    texts = tf1.placeholder(tf.string, [None])
    flag = tf1.placeholder(tf.bool, [])
    joined = tf.strings.join([texts, texts])
    chosen = tf.cond(flag, lambda: n, lambda: -n)
    nothing = tf.no_op()

    def drive(run):
        ones = np.ones((3, 2))
        out = []
        for feeds in ({x: ones, n: 5}, {x: [[1, 2]], n: np.int64(7)}, {x: ones.astype(np.float32), n: np.array(3)}):
            for fetches in (y, [y, m], (m, [y]), {"y": y, "both": (m, m)}, [y, x], Pair(y, m), [y, y.name]):
                out.append(tf.nest.map_structure(np.asarray, again(run, fetches, feeds)))
        assert again(run, [nothing, m], {n: 1}) == [[None, 2]] * 3
        assert again(run, nothing) == [None] * 3
        out += again(run, joined, {texts: ["a", "b"]}) + again(run, joined, {texts: np.array([b"c", b"dd"], object)})
        return out + [run.run(chosen, {flag: value, n: 4}) for value in (True, False, True, np.bool_(False), 1)]

    return drive


def test_the_short_way_is_taken_and_gives_the_form_that_was_asked_for():
    with tf.Graph().as_default(), session() as run:
        x, _, y, _ = placeholders()
        feeds = {x: np.ones((1, 2))}
        first, second = again(run, {"a": (y, [y])}, feeds, 2)
        (prepared,) = run._npu.runs.values()
        assert prepared is not None
        calls = []
        prepared.run = lambda session, arrays: calls.append(arrays)
        run.run({"a": (y, [y])}, feeds)
        assert len(calls) == 1
        assert type(second["a"]) is type(first["a"]) is tuple
        np.testing.assert_array_equal(second["a"][1][0], first["a"][1][0])


def raised(run, fetches, feeds):
    try:
        run.run(fetches, feeds)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is compared
        return type(error).__name__, str(error)
    return "nothing", ""


WRONG = {"size": np.ones((3, 3)), "rank": [1.0], "text": "text", "ragged": [[1.0], [2.0, 3.0]], "none": None}


@pytest.mark.parametrize("value", WRONG.values(), ids=WRONG)
def test_errors_are_those_of_the_first_run(value):
    with tf.Graph().as_default():
        x, _, y, _ = placeholders()
        with session() as run, session(False) as theirs:
            before = raised(run, y, {x: value})
            run.run(y, {x: np.ones((1, 2))})
            assert raised(run, y, {x: value}) == before == raised(theirs, y, {x: value})
            assert before[0] != "nothing"


def test_integers_that_do_not_fit_are_refused_and_others_are_not():
    with tf.Graph().as_default():
        byte, half = tf1.placeholder(tf.int8, []), tf1.placeholder(tf.float16, [])
        fetches = [tf.identity(byte), tf.identity(half)]
        with session() as run:
            for number in (1, 127, -128):
                assert again(run, fetches, {byte: number, half: 2048})[-1] == [number, 2048]
            for feeds in ({byte: 1, half: 2049}, {byte: 1 << 40, half: 1}):
                assert raised(run, fetches, feeds)[0] in ("TypeError", "OverflowError")


def test_a_tensor_is_no_value_of_a_feed():
    with tf.Graph().as_default():
        x, _, y, _ = placeholders()
        with session() as run:
            again(run, y, {x: np.ones((1, 2))})
            with pytest.raises(TypeError, match="cannot be a tf.Tensor object"):
                run.run(y, {x: tf.ones([1, 2])})


def test_a_fetch_that_is_fed_is_what_it_is_fed_with():
    with tf.Graph().as_default(), session() as run:
        x, _, y, _ = placeholders()
        for value in (1.0, 2.0, 3.0):
            fetched, double = run.run([x, y], {x: [[value, 0.0]]})
            assert (fetched[0, 0], double[0, 0]) == (value, 2 * value)
        text = tf1.placeholder(tf.string, [1])
        assert again(run, text, {text: ["not bytes"]}) == [["not bytes"]] * 3


def test_marks_and_graphs_that_come_later():
    with tf.Graph().as_default() as graph, session() as run:
        v = tf1.get_variable("v", [], initializer=tf1.zeros_initializer())
        add = tf1.assign_add(v, 1.0).op
        run.run(v.initializer)
        again(run, add)
        iterations.mark(add, 10)
        again(run, add, times=1)
        iterations.mark(add, 1)
        again(run, add, times=2)
        more = v + 1.0
        assert graph.version and again(run, [v, more]) == [[15.0, 16.0]] * 3


def test_fetches_under_names_of_any_kind():
    """Sessions of hooks fetch under their hooks."""
    with tf.Graph().as_default(), session() as run:
        key, one = object(), tf.constant(1.0)
        assert again(run, {key: one, "caller": [one, one]}) == [{key: 1.0, "caller": [1.0, 1.0]}] * 3


def test_a_closed_session_says_so():
    with tf.Graph().as_default():
        one = tf.constant(1.0)
        run = session()
        again(run, one)
        run.close()
        with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
            run.run(one)
