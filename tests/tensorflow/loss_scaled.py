# SPDX-License-Identifier: Apache-2.0
"""Training with a scaled loss as the vendor's guide writes it: the loop in a tf.function (chapter 6), an optimizer that
was replaced (6.5). One batch in eight overflows. Run as a script it prints what happened, for an SoC named outside."""

import json
import sys

import models
import movement
import numpy as np
import tensorflow as tf

STEPS, LARGE = 8, 5  # batch LARGE overflows in float16


def batches():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(STEPS, 4, 8)).astype("float32")
    x[LARGE] = 3e4  # eight of these in one sum pass 65504
    return x, rng.integers(0, 3, (STEPS, 4))


def model(dtype="mixed_float16"):
    half = tf.keras.mixed_precision.Policy(dtype)
    return tf.keras.Sequential([
        tf.keras.layers.Dense(16, "relu", kernel_initializer="ones", dtype=half, name="half", input_shape=(8,)),
        tf.keras.layers.Dense(3, kernel_initializer=tf.keras.initializers.GlorotUniform(5), name="logits"),
    ])  # fmt: skip


def moved_to(weights):
    """How far each tensor is from where it started."""
    start = models.weights(model())
    return movement.between(start, dict(zip(start, weights, strict=True)))


def stepper(net, optimizer):
    def step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.keras.losses.sparse_categorical_crossentropy(y, net(x, training=True), from_logits=True)
            loss = tf.reduce_mean(losses)
            scaled = optimizer.get_scaled_loss(loss)
        grads = optimizer.get_unscaled_gradients(tape.gradient(scaled, net.trainable_variables))
        optimizer.apply_gradients(zip(grads, net.trainable_variables, strict=True))

    return step


def train(optimizer, strategy=None):
    """Step by step: (scale, good steps, iterations, whether the weights moved), and the weights at last."""
    strategy = strategy or tf.distribute.get_strategy()
    net = model()
    step = stepper(net, optimizer)

    @tf.function
    def train_step(x, y):
        strategy.run(step, (x, y))

    told, before = [], net.get_weights()
    for x, y in zip(*batches(), strict=True):
        train_step(tf.constant(x), tf.constant(y))
        moved = any((a != b).any() for a, b in zip(before, net.get_weights(), strict=True))
        good = None if optimizer.dynamic_counter is None else int(optimizer.dynamic_counter)
        told.append((float(optimizer.loss_scale), good, int(optimizer.iterations), moved))
        before = net.get_weights()
    return told, before


def train_exactly(optimizer):
    """In float32, without the batch that overflows: how far each tensor of weights moved."""
    net = model("float32")
    before = models.weights(net)
    for i, (x, y) in enumerate(zip(*batches(), strict=True)):
        if i == LARGE:
            optimizer.iterations.assign_add(1)  # steps left out count
            continue
        with tf.GradientTape() as tape:
            losses = tf.keras.losses.sparse_categorical_crossentropy(y, net(x, training=True), from_logits=True)
            loss = tf.reduce_mean(losses)
        grads = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(grads, net.trainable_variables, strict=True))
    return movement.between(before, models.weights(net))


def train_sunk(optimizer):
    """The whole loop in one function; the iterations, the scale and the weights at last."""
    net = model()
    step = stepper(net, optimizer)

    @tf.function
    def loop_train(iterator, steps):
        for _ in tf.range(steps):
            step(*next(iterator))

    loop_train(iter(tf.data.Dataset.from_tensor_slices(batches())), STEPS)
    return int(optimizer.iterations), float(optimizer.loss_scale), net.get_weights()


def script():
    import npu_device as npu

    handle = npu.open().as_default()
    refused = []
    for mode in (1, 3):
        try:
            npu.npu_device.set_device_sat_mode(mode)
        except (RuntimeError, ValueError) as error:
            refused.append(f"{type(error).__name__}: {error}")
    sgd = tf.keras.optimizers.SGD(1e-3)
    iterations, scale, weights = train_sunk(npu.train.optimizer.NpuLossScaleOptimizer(sgd, initial_scale=1024))
    stepwise, last = train(npu.train.optimizer.NpuLossScaleOptimizer(tf.keras.optimizers.SGD(1e-3), True, 1024))
    half = float((tf.constant(6e4, tf.half) * 2).numpy())
    npu.global_options().overflow_flag = 0
    with npu.open(1).scope():
        unseen = [float((tf.constant(6e4, tf.half) * 2).numpy()), int(npu.gen_npu_ops.npu_get_float_status_v2()[0])]
        unseen += npu.open(1).overflows()
    json.dump({
        "inf_nan": npu.is_inf_nan_enabled(), "refused": refused, "iterations": iterations, "scale": scale,
        "stepwise": stepwise, "same": all((a == b).all() for a, b in zip(weights, last, strict=True)),
        "moved": {name: array.tolist() for name, array in moved_to(last).items()},
        "overflows": handle.overflows(), "half": half, "unseen": unseen,
    }, sys.stdout)  # fmt: skip


if __name__ == "__main__":
    script()
