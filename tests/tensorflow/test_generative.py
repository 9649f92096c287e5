# SPDX-License-Identifier: Apache-2.0
"""Models that draw random numbers while they learn. The NPU draws TensorFlow's own, so the runs can be compared."""

import hosted
import models
import numpy as np
import pytest
import tensorflow as tf

layers = tf.keras.layers
LOSS = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def both(run):
    """What `run` gives on the NPU and on the CPU, from the same seed."""
    found = []
    for device in ("/device:NPU:0", "CPU"):
        with tf.device(device):
            tf.keras.backend.clear_session()
            tf.keras.utils.set_random_seed(7)
            found.append(np.array(run()))
    return found


def assert_runs_alike(run):
    with hosted.nothing_but_feed(run.__qualname__.split(".")[0]):
        ours, theirs = both(run)
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        np.testing.assert_allclose(a, b, rtol=1e-5 * (i + 1), atol=1e-6 * (i + 1), err_msg=f"step {i}")
    assert not np.allclose(theirs[0], theirs[-1])


def data(count):
    return [tf.constant(x.reshape(16, -1)[:, :24]) for x, _ in models.batches("mlp", count)]


class Sampling(layers.Layer):
    """A point drawn from the distribution that the encoder tells."""

    def call(self, inputs):
        mean, log_variance = inputs
        self.add_loss(-0.5 * tf.reduce_mean(1 + log_variance - mean**2 - tf.exp(log_variance)))
        return mean + tf.exp(0.5 * log_variance) * tf.random.normal(tf.shape(mean))


@pytest.mark.promise("an autoencoder and two adversaries, with TensorFlow's random bits")
def test_variational_autoencoder():
    def run():
        inputs = layers.Input((24,))
        hidden = layers.Dense(16, "relu")(inputs)
        z = Sampling()([layers.Dense(3)(hidden), layers.Dense(3)(hidden)])
        model = tf.keras.Model(inputs, layers.Dense(24)(layers.Dense(16, "relu")(z)))
        model.compile("sgd", "mse")
        return [model.train_on_batch(x, x) for x in data(6)]

    assert_runs_alike(run)


def test_adversaries():
    """Two optimizers, each moving its own half."""

    def run():
        dense = [layers.Dense(16), layers.LeakyReLU(), layers.BatchNormalization(), layers.Dense(24)]
        generator = tf.keras.Sequential([layers.Input((4,)), *dense])
        critic = tf.keras.Sequential(
            [layers.Input((24,)), layers.Dense(16, "relu"), layers.Dropout(0.3), layers.Dense(1)]
        )
        loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
        halves = [(generator, tf.keras.optimizers.SGD(0.05)), (critic, tf.keras.optimizers.SGD(0.05))]

        @tf.function
        def step(real):
            with tf.GradientTape(persistent=True) as tape:
                made = generator(tf.random.normal([16, 4]), training=True)
                told = critic(tf.concat([real, made], 0), training=True)
                right = tf.concat([tf.ones([16, 1]), tf.zeros([16, 1])], 0)
                losses = [loss(tf.ones([16, 1]), told[16:]), loss(right, told)]
            for (model, optimizer), one in zip(halves, losses, strict=True):
                found = tape.gradient(one, model.trainable_variables)
                optimizer.apply_gradients(zip(found, model.trainable_variables, strict=True))
            return losses

        return [[one.numpy() for one in step(x)] for x in data(6)]

    assert_runs_alike(run)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "Dropout"])
def test_dropped_out(kind):
    def run():
        if kind == "Dropout":
            inner = [layers.SpatialDropout1D(0.2, seed=1), layers.Flatten(), layers.Dropout(0.5, seed=2),
                     layers.GaussianNoise(0.1, seed=3), layers.GaussianDropout(0.1, seed=4),
                     layers.AlphaDropout(0.1, seed=5)]  # fmt: skip
        else:
            # Not as a loop: TensorFlow runs turns of it side by side, and which of them draws first is left to chance.
            inner = [getattr(layers, kind)(4, dropout=0.2, recurrent_dropout=0.2, unroll=True)]
        model = tf.keras.Sequential([layers.Input((3, 5)), layers.Masking(), *inner, layers.Dense(models.CLASSES)])
        model.compile("sgd", LOSS)
        return [model.train_on_batch(x[:, :3], y) for x, y in models.batches("lstm", 4)]

    assert_runs_alike(run)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("base", ["Adam", "legacy"])
def test_a_loss_scale_falls_when_gradients_overflow(policy, base):
    with_policy = models.make("mlp", policy)
    inner = tf.keras.optimizers.Adam(1e-3) if base == "Adam" else tf.keras.optimizers.legacy.SGD(1e-3)
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(inner, dynamic_growth_steps=2)
    weights = with_policy.trainable_variables
    if base == "Adam":
        inner.build(weights)

    @tf.function
    def step(x, y, factor):
        with tf.GradientTape() as tape:
            loss = LOSS(y, with_policy(x, training=True))
            scaled = optimizer.get_scaled_loss(loss)
        found = [g * factor for g in optimizer.get_unscaled_gradients(tape.gradient(scaled, weights))]
        optimizer.apply_gradients(zip(found, weights, strict=True))
        return loss

    x, y = models.batches("mlp", 1)[0]
    before, scale = weights[0].numpy(), float(optimizer.loss_scale)
    assert scale == 2.0**15
    for factor in (np.inf, np.nan):
        with hosted.nothing_but_feed(f"{policy} with {base}"):
            step(x, y, tf.constant(factor, tf.float32))
        scale /= 2
        assert float(optimizer.loss_scale) == scale
        np.testing.assert_array_equal(weights[0].numpy(), before)
        for slot in inner.variables() if base == "legacy" else inner.variables[2:]:
            assert not slot.numpy().any() or slot.shape == ()
    for _ in range(2):
        step(x, y, tf.constant(1.0))
    assert float(optimizer.loss_scale) == 2 * scale  # two good steps
    assert (weights[0].numpy() != before).any()
