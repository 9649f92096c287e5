# SPDX-License-Identifier: Apache-2.0
"""Loss scaling of TensorFlow 1: the managers' rules, and steps that are left out."""

import npu_device as npu
import numpy as np
import pytest
import tensorflow as tf
import v1_process
from npu_bridge.estimator.npu.npu_loss_scale_manager import ExponentialUpdateLossScaleManager, FixedLossScaleManager
from npu_bridge.estimator.npu.npu_loss_scale_optimizer import NPULossScaleOptimizer
from npu_device import gen_npu_ops
from npu_device.setting import overflow

RULES = """
from npu_bridge.estimator.npu.npu_loss_scale_manager import ExponentialUpdateLossScaleManager, FixedLossScaleManager

def model(steps, scale, good_steps, bad_steps=2, incr=2, decr=0.8):
    scale, good, bad = np.float32(scale), 0, 0
    for finite in steps:
        if finite:
            good += 1
            if good >= good_steps:
                scale = scale * np.float32(incr) if scale < np.float32(3.4e38 / incr) else scale
                good = bad = 0
        else:
            good, bad = 0, bad + 1
            if bad >= bad_steps:
                scale = max(np.float32(1), scale * np.float32(decr))
                good = bad = 0
        yield scale

rng = np.random.default_rng(4)
finite = tf.placeholder(tf.bool, [])
seen = set()
for chance, arguments in ((0.6, (8, 3)), (0.6, (2**15, 2, 1, 3, 0.5)), (0.2, (2, 4, 2)), (1, (1e38, 1, 1, 2, 0.5)),
                          (0.5, (64, 1, 3, 2, 0.1))):
    steps = (rng.random(60) < chance).tolist()
    manager = ExponentialUpdateLossScaleManager(*arguments)
    update = manager.update_loss_scale(finite)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step, wanted in zip(steps, model(steps, *arguments)):
            session.run(update, {finite: step})
            assert session.run(manager.get_loss_scale()) == wanted, (arguments, wanted)
            seen.add(float(wanted))
assert 1.0 in seen and max(seen) > 1e38 and len(seen) > 20, seen
fixed = FixedLossScaleManager(16)
with tf.Session() as session:
    session.run(fixed.update_loss_scale(finite), {finite: False})
    assert session.run(fixed.get_loss_scale()) == 16 and fixed.get_enable_overflow_check()
raised(ValueError, "loss_scale is 0.5 | 1 or more", lambda: FixedLossScaleManager(0.5))
raised(ValueError, "init_loss_scale is 0 | incr_every_n_steps is 0 | decr_ratio is 2",
       lambda: ExponentialUpdateLossScaleManager(0, 0, decr_ratio=2))
raised(ValueError, "decr_every_n_nan_or_inf is 0 | incr_ratio is 0.5",
       lambda: ExponentialUpdateLossScaleManager(1, 1, 0, 0.5))
print(len(seen))
"""


@pytest.mark.parametrize("control_flow", ["v1", "v2"])
def test_the_managers_follow_their_rules(tmp_path, control_flow):
    print("scales seen:", v1_process.run(tmp_path, RULES, CONTROL_FLOW=control_flow)[0])


STEPS = """
from npu_bridge.estimator.npu.npu_loss_scale_manager import ExponentialUpdateLossScaleManager, FixedLossScaleManager
from npu_bridge.estimator.npu.npu_loss_scale_optimizer import NPULossScaleOptimizer
from npu_bridge.estimator.npu.npu_optimizer import NPUOptimizer

rng = np.random.default_rng(1)
good = rng.normal(size=(6, 8, 4)).astype("float32")
BAD = np.full((8, 4), np.inf, "float32")

def graph(wrap):
    x, rows = tf.placeholder(tf.float32, [8, 4]), tf.constant([1, 3, 1])
    table = tf.get_variable("table", [5, 4], initializer=tf.constant_initializer(0.5))
    w = tf.get_variable("w", [4, 2], initializer=tf.glorot_uniform_initializer(3))
    unused = tf.get_variable("unused", [2], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(x @ w)) + tf.reduce_mean(tf.square(tf.gather(table, rows)))
    step = tf.train.get_or_create_global_step()
    optimizer = wrap(tf.train.AdamOptimizer(0.1))
    return x, optimizer.minimize(loss, global_step=step), step, optimizer

def run(wrap, batches):
    with tf.Graph().as_default(), tf.Session() as session:
        x, train, step, optimizer = graph(wrap)
        session.run(tf.global_variables_initializer())
        weights = []
        for batch in batches:
            session.run(train, {x: batch})
            weights.append(session.run([*tf.trainable_variables(), step]))
        return weights, [v.name for v in optimizer.variables()], tf.get_default_graph()

plain, names, _ = run(lambda inner: inner, good)
mixed = [good[0], BAD, *good[1:4], BAD, BAD, *good[4:]]
managers = {}

def scaling(kind, *arguments, **named):
    def wrap(inner):
        managers[kind] = ExponentialUpdateLossScaleManager(2**10, 3, 2, 2, 0.5)
        return kind(inner, managers[kind], *arguments, **named)
    return wrap

# A scale that is a power of 2 leaves all bits: what is trained is what the plain optimizer trains on the good batches.
for wrap in (scaling(NPULossScaleOptimizer), scaling(NPULossScaleOptimizer, True),
             scaling(NPUOptimizer, is_loss_scale=True, is_distributed=True, is_tailing_optimization=True),
             lambda inner: NPULossScaleOptimizer(inner, FixedLossScaleManager(8))):
    weights, same_names, made = run(wrap, mixed)
    assert same_names == names, same_names  # a checkpoint of one is read by the other
    kept = [weights[i] for i, batch in enumerate(mixed) if np.isfinite(batch).all()]
    for ours, theirs in zip(kept, plain, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)
    for i in (1, 5, 6):
        for a, b in zip(weights[i], weights[i - 1], strict=True):
            np.testing.assert_array_equal(a, b)
    assert kept[-1][-1] == 6  # global_step does not count what is left out

# The word is read when all gradients are there, and cleared before a step is decided on what was read.
status = made.get_operation_by_name("overflow/NpuGetFloatStatusV2")
[clear] = [op for op in made.get_operations() if op.type == "NpuClearFloatStatusV2"]
tested = {op.inputs[0].op for op in made.get_operations() if op.type == "IsFinite"}
assert len(tested) == 2 and set(status.control_inputs) == tested and clear.control_inputs == [status]
[decided] = [op for op in made.get_operations() if clear in op.control_inputs]
assert decided.type == "Identity" and [op.type for op in decided.outputs[0].consumers()] == ["Pack"]
assert status.get_attr("_npu_loss_scale") and clear.get_attr("_npu_loss_scale")

# Without the check every step is applied.
unchecked = lambda inner: NPULossScaleOptimizer(inner, FixedLossScaleManager(8, enable_overflow_check=False))
weights, _, made = run(unchecked, mixed[:2])
assert np.isnan(weights[1][1]).all() and not [op for op in made.get_operations() if "FloatStatus" in op.type]

with tf.Graph().as_default():
    inner = tf.train.AdamOptimizer()
    raised(ValueError, "NPULossScaleOptimizer takes an optimizer of tf.train", lambda: NPULossScaleOptimizer("adam", 0))
    raised(ValueError, "no loss_scale_manager; give one", lambda: NPUOptimizer(inner, is_loss_scale=True))
"""


@pytest.mark.parametrize("control_flow", ["v1", "v2"])
def test_steps_that_overflow_are_left_out(tmp_path, control_flow):
    v1_process.run(tmp_path, STEPS, CONTROL_FLOW=control_flow)


@pytest.fixture
def saturating():
    npu.set_device_sat_mode(0)
    gen_npu_ops.npu_clear_float_status_v2()
    yield
    npu.set_device_sat_mode(1)


def test_an_overflow_that_only_the_device_saw_is_a_step_left_out(saturating):
    """In saturation mode no gradient is infinite: the word alone tells."""
    w = tf.Variable(tf.ones([4, 2]))
    manager = ExponentialUpdateLossScaleManager(4, 2, 1, 2, 0.5)
    optimizer = NPULossScaleOptimizer(tf.compat.v1.train.GradientDescentOptimizer(1e-3), manager)
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def train(x):
        def loss():
            half = tf.matmul(tf.cast(x, tf.float16), tf.cast(w, tf.float16))
            return tf.reduce_mean(tf.cast(half, tf.float32))

        optimizer.apply_gradients(optimizer.compute_gradients(loss, [w]), global_step=step)

    told = []
    for batch in (1.0, 6e4, 1.0, 1.0):
        before = w.numpy()
        train(tf.fill([8, 4], batch))
        told.append((float(manager.get_loss_scale()), int(step), bool((w.numpy() != before).all())))
        assert np.isfinite(w.numpy()).all()
    assert told == [(4, 1, True), (2, 1, False), (2, 2, True), (4, 3, True)], told
    assert not gen_npu_ops.npu_get_float_status_v2().numpy().any()


def test_a_device_that_tells_nothing_is_told_of(saturating):
    overflow.detect(0, 0)
    try:
        with pytest.warns(UserWarning, match="no overflow is seen: this NPU saturates"), tf.Graph().as_default():
            w = tf.compat.v1.get_variable("w", [2])
            inner = tf.compat.v1.train.GradientDescentOptimizer(1e-3)
            NPULossScaleOptimizer(inner, FixedLossScaleManager(2)).minimize(tf.reduce_sum(w))
    finally:
        overflow.detect(0, 1)
