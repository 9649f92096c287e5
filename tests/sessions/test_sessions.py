# SPDX-License-Identifier: Apache-2.0
"""Runs of sessions: what is fed and fetched, what sessions keep, what goes wrong."""

import threading
import time

import npu_device
import numpy as np
import pytest
import tensorflow as tf
from both import on_both, session, tf1, trained
from tensorflow.core.framework import attr_value_pb2


def regression(use_resource=None):
    """Placeholders, loss and train operation of a small network."""
    x, y = tf1.placeholder(tf.float32, [None, 8]), tf1.placeholder(tf.int32, [None])
    with tf1.variable_scope("", use_resource=use_resource):
        logits = tf1.layers.dense(tf1.layers.dense(x, 16, activation=tf.nn.relu), 4)
        loss = tf1.losses.sparse_softmax_cross_entropy(y, logits)
        step = tf1.train.get_or_create_global_step()
        return x, y, loss, tf1.train.AdamOptimizer(0.01).minimize(loss, step)


def batch(x, y):
    return {x: np.random.rand(32, 8), y: np.random.randint(0, 4, 32)}


@pytest.mark.parametrize("use_resource", [False, True])
@on_both
def test_a_network_trains(use_resource):
    x, y, loss, train = regression(use_resource)

    def drive(run):
        feeds = batch(x, y)
        losses = [one[1] for one in trained(run, 20, [train, loss], feeds)]
        return losses, run.run(tf1.train.get_global_step()), run.run(tf1.report_uninitialized_variables())

    return drive


OPTIMIZERS = {
    "descent": lambda: tf1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda: tf1.train.AdamOptimizer(0.01),
    "adagrad": lambda: tf1.train.AdagradOptimizer(0.1),
    "adadelta": lambda: tf1.train.AdadeltaOptimizer(1.0),
    "rmsprop": lambda: tf1.train.RMSPropOptimizer(0.01, momentum=0.9),
    "centered": lambda: tf1.train.RMSPropOptimizer(0.01, centered=True),
    "ftrl": lambda: tf1.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "proximal": lambda: tf1.train.ProximalGradientDescentOptimizer(0.1, l2_regularization_strength=0.1),
    "proximal adagrad": lambda: tf1.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.01),
    "adagrad da": lambda: tf1.train.AdagradDAOptimizer(0.1, tf1.train.get_or_create_global_step()),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("use_resource", [False, True])
@on_both
def test_every_optimizer_on_whole_and_on_sparse_gradients(optimizer, use_resource):
    rows = tf1.placeholder(tf.int32, [None])
    with tf1.variable_scope("", use_resource=use_resource):
        table, w = tf1.get_variable("table", [6, 3]), tf1.get_variable("w", [3, 2])
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.embedding_lookup(table, rows), w) - 1.0))
    train = OPTIMIZERS[optimizer]().minimize(loss, tf1.train.get_or_create_global_step())

    def drive(run):
        losses = [one[0] for one in trained(run, 5, [loss, train], {rows: [0, 2, 2, 5]})]
        return losses, run.run([table.value(), w.value()])

    return drive


@on_both
def test_a_fetch_of_any_form():
    x = tf1.placeholder_with_default(tf.constant([1.0, 2.0]), [None])
    text = tf.strings.as_string(x)
    sparse = tf.sparse.from_dense(tf.stack([x, x * 0]))
    integers = [tf.cast(x, dtype) for dtype in (tf.int8, tf.uint16, tf.int64, tf.float16, tf.float64, tf.bool)]
    empty = tf.zeros([0, 3])

    def drive(run):
        all_of_them = {"a": x, "b": (text, [integers]), "c": empty, "d": tf.no_op(), "e": text[0], "f": x[0]}
        got = run.run(all_of_them)
        assert got["d"] is None
        assert isinstance(got["e"], bytes)
        assert type(got["f"]) is np.float32
        del got["d"]
        ragged = run.run(sparse, {x: [3.0]})
        return got, list(ragged), run.run(x.name, {x: [5.0]})

    return drive


@on_both
def test_any_value_can_be_fed():
    a = tf.constant(2.0)
    b = tf.sqrt(a)
    halves = tf.split(tf.range(4.0), 2)
    c = b + tf.reduce_sum(halves[0]) * tf.reduce_sum(halves[1])
    text = tf.strings.join(["x", tf.constant("y")])
    length = tf.strings.length(text)
    return lambda run: [
        run.run(c),
        run.run(c, {b: 10.0}),
        run.run(c, {halves[1]: [1.0, 5.0]}),
        run.run([length, text], {text: "longer"}),
        run.run(tf1.get_default_graph().get_tensor_by_name("Sqrt:0"), {a: 9.0}),
    ]


@on_both
def test_variables_by_reference():
    v = tf1.Variable([1.0, 2.0, 3.0], use_resource=False)
    with tf.control_dependencies([tf1.assign(v, v * 2)]):
        after = tf.identity(v)
    once = tf1.assign_sub(v, [1.0, 1.0, 1.0])
    rows = tf1.scatter_update(v, [1], [9.0])
    counter = tf1.Variable(0, use_resource=False)
    count = tf1.count_up_to(counter, 3)
    cut = v[1:].assign([7.0, 8.0])

    def drive(run):
        assert list(run.run(tf1.report_uninitialized_variables())) == [b"Variable", b"Variable_1"]
        run.run(tf1.global_variables_initializer())
        out = [run.run(one) for one in (v, after, once, rows, count, cut, v)]
        with pytest.raises(tf.errors.OutOfRangeError):
            for _ in range(3):
                run.run(count)
        return out

    return drive


@on_both
def test_streaming_metrics():
    labels, found = tf1.placeholder(tf.int64, [None]), tf1.placeholder(tf.int64, [None])
    value, update = tf1.metrics.accuracy(labels, found)
    mean = tf1.metrics.mean(found)

    def drive(run):
        run.run(tf1.local_variables_initializer())
        feeds = [{labels: [0, 1, 1], found: [0, 1, k]} for k in range(3)]
        return [(run.run([update, mean[1]], one), run.run([value, mean[0]], one)) for one in feeds]

    return drive


@on_both
def test_an_unordered_read_sees_what_was_before_and_a_reference_what_is_after():
    v = tf1.get_variable("v", initializer=1.0, use_resource=False)
    copy = tf.cond(v > 0.0, lambda: v + 0.0, lambda: -v)
    add = tf1.assign_add(v, 1.0)

    def drive(run):
        run.run(v.initializer)
        if getattr(run, "_npu", None):  # TensorFlow's own session races
            assert [run.run([add.op, copy, v])[1:] for _ in range(3)] == [[1, 2], [2, 3], [3, 4]]
        run.run(v.initializer)
        return [run.run([add.op, v]) for _ in range(3)]

    return drive


def test_what_is_not_initialized_is_told_with_its_node():
    with tf.Graph().as_default(), session() as run:
        v = tf1.get_variable("v", [2])
        y = v * 2
        with pytest.raises(tf.errors.FailedPreconditionError, match=r"before anything was assigned(.|\n)*node v"):
            run.run(y)
        with pytest.raises(tf.errors.FailedPreconditionError, match=r"before anything was assigned(.|\n)*node v}"):
            run.run(v)
        run.run(v.initializer)
        assert run.run(y).shape == (2,)


def test_a_placeholder_that_is_not_fed_is_named():
    with tf.Graph().as_default(), session() as run:
        x = tf1.placeholder(tf.float32, [2], name="wanted")
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value for placeholder tensor 'wanted'"):
            run.run(x * 2)
        assert list(run.run(x * 2, {x: [1, 2]})) == [2, 4]


def test_errors_name_the_line_of_the_user():
    with tf.Graph().as_default(), session() as run:
        x = tf1.placeholder(tf.float32, [None, None])
        y = tf.matmul(x, x, name="product")
        with pytest.raises(tf.errors.InvalidArgumentError) as told:
            run.run(y, {x: np.zeros((2, 3))})
    assert "product" in str(told.value)
    assert "test_sessions.py" in str(told.value)
    assert told.value.op is None or told.value.op.name == "product"


def test_wrong_feeds_are_refused_and_the_next_run_is_right():
    with tf.Graph().as_default(), session() as run:
        x = tf1.placeholder(tf.float32, [2])
        y = x + 1
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            run.run(y, {x: [1, 2, 3]})
        with pytest.raises(ValueError, match="could not convert"):
            run.run(y, {x: ["a", "b"]})
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
            run.run(y, {"nothing": 1})
        assert list(run.run(y, {x: [1, 2]})) == [2, 3]


def test_sessions_of_one_graph_have_variables_of_their_own():
    with tf.Graph().as_default():
        v = tf1.get_variable("v", initializer=1.0)
        add = tf1.assign_add(v, 1.0)
        with session() as one, session() as other:
            for run in (one, other):
                run.run(v.initializer)
            for _ in range(3):
                one.run(add)
            assert (one.run(v), other.run(v)) == (4, 1)


def test_random_numbers_go_on_through_all_runs_of_a_session():
    with tf.Graph().as_default():
        tf1.set_random_seed(3)
        r = tf1.random_uniform([2])
        doubled = r * 2

        def draws(run):
            return [run.run(r), run.run(doubled) / 2, run.run([r, doubled])[0]]

        with session(False) as cpu, session() as npu, session() as again:
            wanted = draws(cpu)
            np.testing.assert_array_equal(draws(npu), wanted)
            np.testing.assert_array_equal(draws(again), wanted)


def test_threads_share_a_session():
    with tf.Graph().as_default(), session() as run:
        v = tf1.get_variable("v", initializer=0.0, use_resource=True)
        x = tf1.placeholder(tf.float32, [])
        add, y = tf1.assign_add(v, 1.0), tf.sin(x) + v * 0
        run.run(v.initializer)
        wrong = []

        def work(k):
            for _ in range(50):
                run.run(add)
                if abs(run.run(y, {x: k}) - np.sin(np.float32(k))) > 1e-6:
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert run.run(v) == 200


def test_callables():
    with tf.Graph().as_default(), session() as run:
        x = tf1.placeholder(tf.float32, [2])
        y = {"sum": tf.reduce_sum(x)}
        assert run.make_callable(y, [x])([1, 2]) == {"sum": 3}
        v = tf1.Variable(3.0)
        run.run(v.initializer)
        assert run.make_callable([v, v * 2])() == [3, 6]


def test_handles_of_tensors_are_refused():
    with tf.Graph().as_default(), session() as run:
        handle = tf1.get_session_handle(tf.constant(2.0))
        with pytest.raises(tf.errors.UnimplementedError, match="get_session_handle.*keep them in a variable"):
            run.run(handle)


@on_both
def test_an_interactive_session_and_methods_of_tensors():
    v = tf1.Variable([1.0, 2.0], use_resource=False)

    def drive(run):
        with run.as_default():
            v.initializer.run()
            first = (v * 2).eval()
            v.load([5.0, 6.0], run)
            return first, v.eval(), v.read_value().eval()

    return drive


@on_both
def test_text_variables_and_variables_whose_shape_changes():
    text = tf1.get_variable("text", initializer="a", dtype=tf.string, use_resource=False)
    grown = tf1.get_variable("grown", initializer=tf.zeros([3]), validate_shape=False, use_resource=False)
    longer = tf1.assign(grown, tf.ones([5]), validate_shape=False)
    joined = tf1.assign(text, tf.strings.join([text, "b"]))

    def drive(run):
        run.run(tf1.global_variables_initializer())
        return [run.run(one) for one in (text, joined, text, grown, longer, grown * 2)]

    return drive


def test_a_part_of_a_run_is_refused():
    with tf.Graph().as_default(), session() as run:
        x = tf1.placeholder(tf.float32, [])
        with pytest.raises(tf.errors.UnimplementedError, match="partial_run.*call run"):
            run.partial_run_setup([x + 1], [x])


def test_options_and_metadata_of_a_run():
    with tf.Graph().as_default(), session() as run:
        y, told = tf.constant(1.0) + 1, tf1.RunMetadata()
        with pytest.warns(UserWarning, match="tells the time of the whole run"):
            run.run(y, options=tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE), run_metadata=told)
        [stats] = told.step_stats.dev_stats
        assert "NPU:0" in stats.device
        assert stats.node_stats[0].all_end_rel_micros > 0
        with pytest.warns(UserWarning, match="timeout_in_ms has no effect.*stream_sync_timeout"):
            assert run.run(y, options=tf1.RunOptions(timeout_in_ms=1000)) == 2


def test_nodes_that_are_to_run_on_the_host():
    with tf.Graph().as_default(), session() as run:
        x = tf1.placeholder(tf.float32, [2])
        with tf1.get_default_graph()._attr_scope({"_without_npu_compile": attr_value_pb2.AttrValue(b=True)}):
            y = tf.nn.relu(x) + 1
        assert list(run.run(y * 2, {x: [-1, 1]})) == [2, 4]
    hosted = {one["op"]: one["reason"] for part in npu_device.open().report() for one in part["host"]}
    assert hosted["host:Relu"] == hosted["host:AddV2"] == "the program wants it on the host"


def test_what_cannot_be_compiled_runs_on_the_host_where_that_is_asked_for(monkeypatch):
    with tf.Graph().as_default(), session() as run:
        v = tf1.get_variable("v", initializer=2.0)
        odd = tf.raw_ops.Merge(inputs=[v * 2, v * 2], name="odd")[0]
        with tf.control_dependencies([odd]):
            add = tf1.assign_add(v, 1.0)
        run.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="odd"):
            run.run([odd, add.op])
        monkeypatch.setenv("ENABLE_NETWORK_ANALYSIS_DEBUG", "1")
        assert run.run([odd, add.op])[0] == 4
        assert run.run(v) == 3
    [told] = [part for part in npu_device.open().report() if part["name"] == "a run of a session"]
    assert "odd" in told["host"][0]["reason"]
    assert told["host"][0]["runs"] == 1


def test_a_closed_session_is_closed():
    with tf.Graph().as_default():
        y = tf.constant(1.0) + 1
        run = session()
        assert run.run(y) == 2
        run.close()
        with pytest.raises(RuntimeError, match="closed Session"):
            run.run(y)
        run.close()


def test_closing_ends_what_waits_for_a_queue():
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(1, [tf.float32], [[]])
        put, take = queue.enqueue(1.0), queue.dequeue()
        run, other = session(), session()
        run.run(put)
        assert other.run(queue.size()) == 0, "another session has a queue of its own"
        assert closed_while_waiting(run, put) == tf.errors.CancelledError
        assert closed_while_waiting(other, take) == tf.errors.OutOfRangeError


def closed_while_waiting(run, what):
    """The error of a run that waits when its session is closed."""
    told = []

    def wait():
        try:
            run.run(what)
        except tf.errors.OpError as error:
            told.append(type(error))

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.2)
    run.close()
    thread.join(20)
    return told[0]


def test_a_graph_may_grow_between_runs():
    with tf.Graph().as_default(), session() as run:
        y = tf.constant(1.0)
        for i in range(5):
            y = y * 2
            assert run.run(y) == 2 ** (i + 1)
