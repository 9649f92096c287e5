# SPDX-License-Identifier: Apache-2.0
"""Memory over many steps: what the process holds and what is allocated on the device stay within 1 % once every shape
was met. LONG_RUN=10000 makes the training runs that long; `pytest -s` shows the figures."""

import gc
import os

import memory
import models
import numpy as np
import pytest
import tensorflow as tf

LONG = int(os.environ.get("LONG_RUN", "0"))
LOSS = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def assert_flat(name, step, warm, steps):
    memory.assert_flat(name, step, warm, steps)


def train_step(model, optimizer):
    @tf.function(reduce_retracing=True)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        found = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(found, model.trainable_variables, strict=True))
        return loss

    return step


@pytest.mark.promise("memory stays flat over long runs")
@pytest.mark.parametrize(("name", "steps"), [("cnn", 500), ("lstm", 200)])
def test_a_custom_loop(name, steps):
    step = train_step(models.make(name), tf.keras.optimizers.Adam(1e-3))
    x, y = models.batches(name, 1)[0]
    assert_flat(f"loop over {name}", lambda _: float(step(x, y)), 100, LONG or steps)


def test_keras_fit():
    model = models.make("cnn")
    model.compile("adam", LOSS, metrics=["accuracy"])
    batches = tf.data.Dataset.from_tensor_slices(models.batches("cnn", 1)[0]).repeat().batch(8)
    steps = (LONG or 500) // 5
    assert_flat("fit", lambda _: model.fit(batches, steps_per_epoch=steps, verbose=0), 2, 5)


def test_batches_of_any_size():
    step = train_step(models.make("mlp"), tf.keras.optimizers.Adam(1e-3))
    x, y = models.batches("mlp", 1)[0]
    sizes = np.random.default_rng(0).integers(1, 60, 800 + LONG)
    assert_flat(
        "any batch", lambda i: step(np.resize(x, (sizes[i], 8, 8, 3)), np.resize(y, sizes[i])), 200, LONG or 200
    )


def test_rows_of_any_count():
    """Gradients of two tables, of as many rows as there are different words: sizes that only the run tells."""
    tables = [tf.Variable(tf.ones([100, 4])) for _ in range(2)]
    optimizer = tf.keras.optimizers.legacy.Adam()
    words = np.random.default_rng(0).integers(0, 100, (600 + LONG, 2, 40))

    @tf.function
    def step(a, b):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(tables[0], a)) * tf.reduce_sum(tf.gather(tables[1], b))
        optimizer.apply_gradients(zip(tape.gradient(loss, tables), tables, strict=True))

    assert_flat("rows", lambda i: step(words[i][0], words[i][1]), 400, LONG or 200)


def test_operators_with_ever_new_seeds():
    tf.random.set_seed(1)  # gives every eager operator a seed of its own
    # TensorFlow's own way keeps a kernel for each.
    assert_flat("seeds", lambda _: tf.random.normal([10]), 1100, 200)


def test_functions_that_are_dropped():
    """Each has a frame of 1 MB, and calls others: a loop and its condition."""

    def step(i):
        x = tf.ones([512, 512])

        @tf.function
        def f(x):
            y = x
            for _ in tf.range(2):
                y = tf.matmul(y, x) * 1e-3
            return y + float(i)

        f(x)
        del f
        gc.collect()

    assert_flat("dropped functions", step, 4, 8)


def test_variables_that_are_dropped():
    def step(_):
        v = tf.Variable(tf.zeros([1 << 18]))
        v.assign_add(tf.ones([1 << 18]))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        v.assign_sub(tape.gradient(loss, v))

    assert_flat("variables", step, 20, 200)


def test_operators_on_new_tensors():
    """Step by step without a function, on more shapes than an operator keeps plans for."""
    w = tf.Variable(tf.ones([16, 16]))

    def step(i):
        x = tf.random.normal([i % 40 + 1, 16])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.relu(x @ w))
        w.assign_sub(0.01 * tape.gradient(loss, w))

    assert_flat("eager", step, 400, LONG or 400)
