# SPDX-License-Identifier: Apache-2.0
"""Several steps in one run: what util.set_iteration_per_loop gives, in sessions and under hooks."""

import numpy as np
import pytest
import tensorflow as tf
from both import session, tf1
from npu_bridge.estimator.npu import util
from npu_bridge.estimator.npu.npu_hook import NPUCheckpointSaverHook, SetIterationsVarHook


def numbers(count):
    """A data set of 1, 2, 3 … and the operation that adds its next element to a sum."""
    data = tf.data.Dataset.range(1, count + 1)
    element = tf1.data.make_one_shot_iterator(data).get_next()
    total = tf1.get_variable("total", initializer=tf.constant(0, tf.int64))
    step = tf1.train.get_or_create_global_step()
    with tf.control_dependencies([tf1.assign_add(total, element)]):
        return total, element, step, tf1.assign_add(step, 1).op


@pytest.mark.promise("a run of an operation with a count takes so many steps, and so many elements of its data")
def test_a_run_takes_so_many_steps_and_elements():
    with tf.Graph().as_default(), session() as run:
        total, element, step, train = numbers(100)
        run.run(tf1.global_variables_initializer())
        looped = util.set_iteration_per_loop(run, train, 5)
        run.run(looped)
        assert run.run([total, step]) == [15, 5]
        last, _ = run.run([element, looped])
        assert last == 10, "what is fetched is of the last step"
        run.run(train)
        assert run.run([total, step]) == [66, 11], "the operation itself is one step"
        assert run.run(element) == 12


def test_data_that_ends_within_a_loop():
    with tf.Graph().as_default(), session() as run:
        total, _, step, train = numbers(7)
        run.run(tf1.global_variables_initializer())
        looped = util.set_iteration_per_loop(run, train, 5)
        run.run(looped)
        with pytest.raises(tf.errors.OutOfRangeError):
            run.run(looped)
        assert run.run([total, step]) == [28, 7], "the steps that had data are done"


def network():
    x = np.random.RandomState(0).rand(64, 6).astype("f")
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).repeat().batch(8)
    features, wanted = tf1.data.make_one_shot_iterator(data).get_next()
    net = tf1.layers.dense(tf1.layers.dense(features, 8, tf.nn.relu), 1)
    loss = tf1.losses.mean_squared_error(wanted, net)
    step = tf1.train.get_or_create_global_step()
    return loss, step, tf1.train.AdamOptimizer(0.01).minimize(loss, step)


def test_a_loop_trains_as_its_steps_do():
    def losses(on_npu, times):
        with tf.Graph().as_default(), session(on_npu) as run:
            tf1.set_random_seed(3)
            loss, _, train = network()
            run.run(tf1.global_variables_initializer())
            train = util.set_iteration_per_loop(run, train, times) if on_npu else train
            return [run.run([loss, train])[0] for _ in range(24 // times if on_npu else 24)]

    stepwise = losses(False, 1)
    np.testing.assert_allclose(losses(True, 6), stepwise[5::6], rtol=1e-4)


def test_a_count_may_change_between_runs():
    with tf.Graph().as_default(), session() as run:
        _, _, step, train = numbers(100)
        run.run(tf1.global_variables_initializer())
        loop = util.IterationPerLoop()
        op = loop.create_iteration_per_loop_var(train)
        tf1.get_default_graph().finalize()
        for count in (1, 4, 2):
            loop.load_iteration_per_loop_var(run, count)
            run.run(op)
        assert run.run(step) == 7


def test_hooks_count_the_steps_of_loops(tmp_path, caplog):
    class Counts(tf1.train.SessionRunHook):
        def after_run(self, context, values):
            seen.append(int(context.session.run(step)))

    seen = []
    tf1.logging.set_verbosity("INFO")
    with tf.Graph().as_default(), caplog.at_level("INFO", "tensorflow"):
        _, step, train = network()
        loop = util.IterationPerLoop()
        op = loop.create_iteration_per_loop_var(train)
        saver = NPUCheckpointSaverHook(str(tmp_path), save_steps=8)
        saver._set_steps_per_run(4)
        hooks = [SetIterationsVarHook(4, max_steps=10), Counts(), saver, tf1.train.StopAtStepHook(last_step=10)]
        with tf1.Session() as run:
            loop.load_iteration_per_loop_var(run, 4)
        with tf1.train.MonitoredTrainingSession(hooks=hooks) as run:
            while not run.should_stop():
                run.run(op)
    tf1.logging.set_verbosity("ERROR")
    assert seen == [4, 8, 10], "the last run has what is left"
    told = [record.getMessage() for record in caplog.records]
    assert [one for one in told if one.startswith("global_step...")] == [f"global_step...{n}" for n in seen]
    assert "NPUCheckpointSaverHook end..." in told
    assert any(one.startswith("load iterations_per_loop value 4 ---") for one in told)
    assert sorted(path.name for path in tmp_path.glob("*.index"))[-1] == "model.ckpt-8.index"
    assert tf1.train.latest_checkpoint(str(tmp_path)).endswith("-10")


def test_two_counts_in_one_run_are_refused():
    with tf.Graph().as_default(), session() as run:
        _, _, step, train = numbers(100)
        other = tf1.assign_add(step, 1).op
        run.run(tf1.global_variables_initializer())
        both = [util.set_iteration_per_loop(run, train, 2), util.set_iteration_per_loop(run, other, 3)]
        with pytest.raises(ValueError, match="different iterations per loop"):
            run.run(both)
        assert run.run(step) == 0


def test_a_count_in_the_configuration_alone_is_told():
    config = tf1.ConfigProto()
    optimizer = config.graph_options.rewrite_options.custom_optimizers.add()
    optimizer.name = "NpuOptimizer"
    optimizer.parameter_map["iterations_per_loop"].i = 3
    with tf.Graph().as_default():
        *_, train = numbers(100)
        run = tf1.Session(config=config)
        run.run(tf1.global_variables_initializer())
        run.run(train)
        with pytest.warns(UserWarning, match="iterations_per_loop=3 had no effect.*util.set_iteration_per_loop"):
            run.close()
