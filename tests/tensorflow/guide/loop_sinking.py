# SPDX-License-Identifier: Apache-2.0
"""Chapters 6.5 and 6.6 of the guide: mixed precision with a scaled loss, and 100 steps that are trained 30 at a time
inside loops, the last ten in a shorter one. Batch LARGE overflows in float16.

Lines that the guide adds end with "added", lines that it changes with what stood there."""

import npu_device as npu  # added

npu.open().as_default()  # added

import json

import numpy as np
import tensorflow as tf

STEPS, LARGE, BATCH, CLASSES = 100, 47, 8, 3


def batches():
    rng = np.random.default_rng(11)
    x = rng.normal(size=(STEPS, BATCH, 16)).astype("float32")
    y = (x.sum(2) > 2).astype("int64") + (x[:, :, 0] > 0.5)
    x[LARGE] = 3e4  # sixteen of these in one sum pass 65504
    return x, y


def build_model():
    half = tf.keras.mixed_precision.Policy("mixed_float16")
    return tf.keras.Sequential([
        tf.keras.layers.Dense(32, "relu", dtype=half, name="half", input_shape=(16,), kernel_initializer="ones"),
        tf.keras.layers.Dense(CLASSES, kernel_initializer=tf.keras.initializers.GlorotUniform(5), name="logits"),
    ])  # fmt: skip


model = build_model()
optimizer = tf.keras.optimizers.SGD(learning_rate=1e-3, momentum=0.9)
scaling = {"initial_scale": 1024, "dynamic_growth_steps": 20}
optimizer = npu.train.optimizer.NpuLossScaleOptimizer(optimizer, **scaling)  # was: optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer, **scaling)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
losses, scales = tf.Variable(tf.zeros([STEPS])), tf.Variable(tf.zeros([STEPS]))


def train_step(inputs):
    x, y = inputs
    with tf.GradientTape() as tape:
        loss = loss_object(y, model(x, training=True))
        scaled_loss = optimizer.get_scaled_loss(loss)
    scaled_gradients = tape.gradient(scaled_loss, model.trainable_variables)
    gradients = optimizer.get_unscaled_gradients(scaled_gradients)
    step = tf.cast(optimizer.iterations, tf.int32)
    losses.scatter_nd_update([[step]], [loss])
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    scales.scatter_nd_update([[step]], [optimizer.loss_scale])


@tf.function
def loop_train(iterator, steps):
    for i in tf.range(steps):
        train_step(next(iterator))


train_iterator = iter(tf.data.Dataset.from_tensor_slices(batches()))
loops = []

remaining_steps = 100
base_loop_size = 30
npu.set_npu_loop_size(base_loop_size)  # added
while remaining_steps >= base_loop_size:
    loop_train(train_iterator, tf.constant(base_loop_size))
    loops.append(base_loop_size)
    remaining_steps -= base_loop_size
if remaining_steps > 0:
    npu.set_npu_loop_size(remaining_steps)  # added
    loop_train(train_iterator, tf.constant(remaining_steps))
    loops.append(remaining_steps)

print(json.dumps({
    "loops": loops, "losses": losses.numpy().tolist(), "scales": scales.numpy().tolist(),
    "iterations": int(optimizer.iterations), "largest": max(float(abs(w).max()) for w in model.get_weights()),
}))  # fmt: skip
