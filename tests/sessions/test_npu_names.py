# SPDX-License-Identifier: Apache-2.0
"""What npu_bridge adds to TensorFlow's operators and optimizers, trained in sessions on the NPU."""

import npu_device as npu
import numpy as np
import pytest
import tensorflow as tf
from both import session, tf1
from npu_bridge.estimator import npu_ops, npu_unary_ops
from npu_bridge.estimator.npu import npu_dynamic_rnn, npu_rnn, util
from npu_bridge.estimator.npu.npu_loss_scale_manager import ExponentialUpdateLossScaleManager, FixedLossScaleManager
from npu_bridge.estimator.npu.npu_loss_scale_optimizer import NPULossScaleOptimizer
from npu_bridge.estimator.npu.npu_scope import without_npu_compile_scope

RNG = np.random.RandomState(0)


@pytest.fixture(params=["infinities", "saturation"])
def saturates(request):
    """A device that has infinities, and one that saturates and sets a word instead."""
    on = request.param == "saturation"
    if on:
        npu.set_device_sat_mode(0)
    yield on
    if on:
        npu.set_device_sat_mode(1)


@pytest.mark.promise("steps that overflow in sessions are left out, with infinities and where the NPU saturates")
def test_steps_of_float16_that_overflow_are_left_out(saturates):
    with tf.Graph().as_default(), session() as run:
        x = tf1.placeholder(tf.float32, [8, 4])
        w = tf1.get_variable("w", [4, 2], initializer=tf1.ones_initializer())
        half = tf.matmul(tf.cast(x, tf.float16), tf.cast(w, tf.float16))
        loss = tf.reduce_mean(tf.cast(half, tf.float32))
        manager = ExponentialUpdateLossScaleManager(4, 2, 1, 2, 0.5)
        step = tf1.train.get_or_create_global_step()
        train = NPULossScaleOptimizer(tf1.train.GradientDescentOptimizer(1e-3), manager).minimize(loss, step)
        run.run(tf1.global_variables_initializer())
        told = []
        for batch in (1.0, 6e4, 1.0, 1.0):
            before = run.run(w)
            run.run(train, {x: np.full([8, 4], batch)})
            after = run.run(w)
            assert np.isfinite(after).all()
            told.append((float(run.run(manager.get_loss_scale())), int(run.run(step)), bool((after != before).all())))
    assert told == [(4, 1, True), (2, 1, False), (2, 2, True), (4, 3, True)]


def test_a_fixed_scale_trains_as_without_it():
    with tf.Graph().as_default(), session() as run:
        plain, scaled = (tf1.get_variable(name, [3], initializer=tf1.ones_initializer()) for name in ("p", "s"))
        descent = tf1.train.GradientDescentOptimizer(0.1)
        alone = descent.minimize(tf.reduce_sum(tf.square(plain)), var_list=[plain])
        wrapped = NPULossScaleOptimizer(descent, FixedLossScaleManager(1024)).minimize(
            tf.reduce_sum(tf.square(scaled)), var_list=[scaled]
        )
        run.run(tf1.global_variables_initializer())
        for _ in range(5):
            run.run([alone, wrapped])
        np.testing.assert_allclose(run.run(scaled), run.run(plain), rtol=1e-6)


def reported():
    """The report's parts by their names; parts go with their sessions."""
    return {part["name"]: part for part in npu.open().report()}


def trained(build, steps=30, rate=0.02):
    """First and last loss of a network that `build` makes, and what its graph has on the host."""
    before = reported()
    with tf.Graph().as_default(), session() as run:
        tf1.set_random_seed(1)
        loss = build()
        train = tf1.train.AdamOptimizer(rate).minimize(loss)
        run.run(tf1.global_variables_initializer())
        losses = [run.run([loss, train])[0] for _ in range(steps)]
        found = reported()
    report = max((found[name] for name in found.keys() - before.keys()), key=lambda part: part["nodes"])
    return losses, report


def classified(net):
    """A loss that a net over 16 rows can bring down."""
    return tf1.losses.sparse_softmax_cross_entropy(np.arange(16) % 4, tf1.layers.dense(net, 4))


def rows():
    return tf.constant(RNG.randn(16, 8).astype("f"))


def test_gelu_and_dropout_of_the_npu_train():
    def build():
        net = npu_unary_ops.gelu(tf1.layers.dense(rows(), 32))
        return classified(npu_ops.dropout(net, 0.9, seed=3))

    losses, report = trained(build)
    assert losses[-1] < 0.5 * losses[0]
    assert report["host_nodes"] == 0
    assert len({round(float(one), 6) for one in losses}) == len(losses), "every step draws a mask of its own"


SEQUENCE = (6, 16, 8)
LAYERS = {
    "lstm": lambda x: npu_dynamic_rnn.DynamicRNN(12, tf.float32)(x)[0],
    "gru": lambda x: npu_dynamic_rnn.DynamicGRUV2(12, tf.float32)(x)[0],
    "attended": lambda x: npu_dynamic_rnn.DynamicAUGRU(12, tf.float32)(x, tf.fill(SEQUENCE[:2], 0.5))[0],
    "any cell": lambda x: tf.stack(npu_rnn.npu_dynamic_rnn(tf1.nn.rnn_cell.BasicLSTMCell(12), x, dtype=tf.float32)[0]),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_recurrent_layers_of_the_npu_train(layer):
    def build():
        sequence = tf.constant(RNG.randn(*SEQUENCE).astype("f"))
        return classified(LAYERS[layer](sequence)[-1])

    losses, report = trained(build)
    assert losses[-1] < 0.5 * losses[0]
    on_host = {one["op"] for one in report["host"]}
    print(layer, report["nodes"], "nodes; on the host:", sorted(on_host))
    assert all(op.startswith(("Stack", "TensorArray")) for op in on_host), "values are kept there, not computed"


def test_what_a_run_would_compute_is_taken_before_it():
    with tf.Graph().as_default(), session() as run:
        v = tf1.get_variable("v", [4])
        y = tf.nn.relu(v) * 2
        util.npu_compile(run, y, v.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError):
            run.run(y)  # it did not run
        lone = tf.raw_ops.Merge(inputs=[v * 2, v * 2], name="odd")[0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="odd"):
            util.npu_compile(run, lone)


def test_nodes_on_the_host_within_a_training():
    def build():
        with without_npu_compile_scope():
            net = tf.nn.relu(tf1.layers.dense(rows(), 32))
        return classified(net)

    losses, report = trained(build)
    assert losses[-1] < 0.5 * losses[0]
    assert "host:Relu" in {one["op"] for one in report["host"]}
