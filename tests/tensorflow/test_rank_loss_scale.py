# SPDX-License-Identifier: Apache-2.0
"""Loss scaling in processes that train together: where one of them overflows, all leave out the step and change their
scale alike. In saturation mode the overflow is in that process's device alone."""

from ranks import HEAD, alone, same, together, weights

SCALED = """
npu.set_device_sat_mode(0)  # no gradient is infinite: the word alone tells

def data(bad):
    x = np.random.default_rng(0).normal(size=(48, 8)).astype(np.float32)
    for i in bad:
        x[8 * i + 1] = 6e4  # an example of rank 1
    return x, np.random.default_rng(1).normal(size=(48, 4)).astype(np.float32)

def model():
    tf.keras.utils.set_random_seed(1)
    return tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(16, "relu", dtype="mixed_float16"),
                                tf.keras.layers.Dense(4, dtype="float32")])

def optimizer(kind, inner):
    distributed = npu.distribute.npu_distributed_keras_optimizer_wrapper
    scaled = npu.train.optimizer.NpuLossScaleOptimizer
    arguments = {"initial_scale": 2.0**10, "dynamic_growth_steps": 2}
    if "outside" in kind:
        return distributed(scaled(inner, **arguments))
    if "keras" in kind:  # the scale of Keras, which sees infinities
        return tf.keras.mixed_precision.LossScaleOptimizer(distributed(inner), **arguments)
    if "fixed" in kind:
        return scaled(distributed(inner), dynamic=False, initial_scale=64.0)
    return scaled(distributed(inner), **arguments)

loss = tf.keras.losses.MeanSquaredError()

def trained(kind, bad=(1, 4)):
    (x, y), m = data(bad), model()
    inner = (tf.keras.optimizers.legacy if "legacy" in kind else tf.keras.optimizers).SGD(1e-3)
    scaling = optimizer(kind, inner)
    told = []

    def step(x, y):
        with tf.GradientTape() as tape:
            value = scaling.get_scaled_loss(loss(y, m(x)))
        grads = scaling.get_unscaled_gradients(tape.gradient(value, m.trainable_variables))
        scaling.apply_gradients(zip(grads, m.trainable_variables))

    step = step if "eager" in kind else tf.function(step)
    for i in range(6):
        part = slice(8 * i + rank, 8 * i + 8, count)
        step(tf.constant(x[part]), tf.constant(y[part]))
        told.append([float(scaling.loss_scale), float(getattr(scaling, "last_step_finite", -1))])
    told.append([float(scaling.iterations)] * 2)
    return [told, *(w.tolist() for w in m.get_weights())]

out = {kind: trained(kind) for kind in ("inside", "inside eager", "outside", "outside legacy", "fixed")}

m, (x, y) = model(), data(())
m.compile(optimizer("inside", tf.keras.optimizers.SGD(1e-3)), loss, steps_per_execution=3)
d, b = npu.distribute.shard_and_rebatch_dataset(tf.data.Dataset.from_tensor_slices((x, y)), 8)
m.fit(d.batch(b, drop_remainder=True), epochs=2, verbose=0, callbacks=npu.distribute.hccl.npu_callbacks_append())
out["fit"] = [[[float(m.optimizer.loss_scale)]], *(w.tolist() for w in m.get_weights())]
npu.set_device_sat_mode(1)
out |= {kind: trained(kind) for kind in ("keras", "keras legacy", "inside infinite")}
print("WEIGHTS", json.dumps(out), flush=True)
"""


def test_all_ranks_leave_out_the_same_steps(tmp_path):
    first, second = (weights(output) for output in together(HEAD + SCALED, tmp_path))
    wanted = weights(alone(HEAD + SCALED))
    assert first == second
    for kind, (told, *trained) in wanted.items():
        assert first[kind][0] == told, kind
        same(first[kind][1:], trained, 1e-3)  # sums of half precision, in another order
    told = wanted["inside"][0]
    assert told == [[1024, 1], [512, 0], [512, 1], [1024, 1], [512, 0], [512, 1], [6, 6]], told
    assert [scale for scale, _ in wanted["keras"][0][:6]] == [scale for scale, _ in told[:6]]
    assert wanted["fit"][0] == [[2.0**16]], "12 good steps, by two each"


SESSION = """
import json, os, warnings
warnings.simplefilter("ignore")
import numpy as np
from npu_bridge.npu_init import *
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
npu_plugin.set_device_sat_mode(0)
X = np.random.RandomState(0).randn(64, 8).astype("f")
for i in (2, 3):
    X[8 * i + 1] = 6e4  # an example of rank 1

def trained(wrap):
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.float32, [None, 1])
        w = tf.get_variable("w", initializer=np.full([8, 1], 1.0, np.float32))
        half = tf.matmul(tf.cast(x, tf.float16), tf.cast(w, tf.float16))
        loss = tf.reduce_mean((tf.cast(half, tf.float32) - y) ** 2)
        manager = ExponentialUpdateLossScaleManager(2.0**10, 2, 1, 2, 0.5)
        counted = tf.train.get_or_create_global_step()
        step = wrap(tf.train.GradientDescentOptimizer(1e-3), manager).minimize(loss, global_step=counted)
        told = []
        with tf.Session(config=npu_config_proto()) as session:
            session.run(tf.global_variables_initializer())
            for i in range(8):
                part = X[8 * i + rank : 8 * i + 8 : count]
                session.run(step, {x: part, y: 2 * part[:, :1] + 1})
                told.append([float(v) for v in session.run([manager.get_loss_scale(), counted])])
            return [told, session.run(w).tolist()]

print("WEIGHTS", json.dumps({
    "told": trained(lambda inner, m: NPULossScaleOptimizer(NPUDistributedOptimizer(inner), m, is_distributed=True)),
    "inside": trained(lambda inner, m: NPULossScaleOptimizer(NPUDistributedOptimizer(inner), m)),
    "around": trained(lambda inner, m: NPUDistributedOptimizer(NPULossScaleOptimizer(inner, m))),
    "one": trained(lambda inner, m: NPUOptimizer(inner, m, is_distributed=True, is_loss_scale=True)),
    "shared out": trained(lambda inner, m: NPULossScaleOptimizer(NPUDistributedOptimizer(inner, True), m)),
}), flush=True)
"""


def test_sessions_leave_out_the_same_steps(tmp_path):
    first, second = (weights(output) for output in together(SESSION, tmp_path))
    assert first == second
    for kind, (told, trained) in weights(alone(SESSION)).items():
        assert first[kind][0] == told, kind
        assert told == [[1024, 1], [2048, 2], [1024, 2], [512, 2], [512, 3], [1024, 4], [1024, 5], [2048, 6]], (
            kind,
            told,
        )
        same(first[kind][1], trained, 1e-3)
