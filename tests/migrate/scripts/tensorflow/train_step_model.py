# SPDX-License-Identifier: Apache-2.0
"""A Keras model with a train_step of its own, and flags read by absl."""
import random

from absl import app
from absl import flags
from absl import logging
import numpy as np
import tensorflow as tf

FLAGS = flags.FLAGS
flags.DEFINE_integer("batch_size", 16, "Examples per step.")
flags.DEFINE_float("learning_rate", 0.1, "Where the cosine begins.")
flags.DEFINE_bool("allow_growth", True, "Let GPU memory grow.")


class Regressor(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.layers_ = [tf.keras.layers.Dense(32, activation=tf.nn.swish) for _ in range(2)]
        self.out = tf.keras.layers.Dense(1)
        self.loss_tracker = tf.keras.metrics.Mean(name="loss")
        self.mae_metric = tf.keras.metrics.MeanAbsoluteError(name="mae")

    def call(self, x):
        for layer in self.layers_:
            x = layer(x)
        return self.out(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = tf.reduce_mean(tf.square(y - y_pred)) + 1e-3 * tf.add_n(
                [tf.nn.l2_loss(v) for v in self.trainable_variables if "kernel" in v.name])
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.mae_metric.update_state(y, y_pred)
        return {"loss": self.loss_tracker.result(), "mae": self.mae_metric.result()}

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae_metric]


class LossPrinter(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        print("step {:d} loss {:.8g}".format(batch + 1, logs["loss"]))


def main(argv):
    del argv
    if FLAGS.allow_growth:
        for i, gpu in enumerate(tf.config.experimental.list_physical_devices("GPU")):
            logging.info("GPU %d: %s", i, gpu)
            tf.config.experimental.set_memory_growth(gpu, True)
    random.seed(4)
    tf.random.set_seed(4)
    rng = np.random.RandomState(4)
    x = rng.uniform(-1, 1, (3 * FLAGS.batch_size, 8)).astype("float32")
    y = np.sin(x.sum(axis=1, keepdims=True)).astype("float32")

    model = Regressor()
    decay = tf.keras.optimizers.schedules.CosineDecay(FLAGS.learning_rate, 3)
    model.compile(optimizer=tf.keras.optimizers.SGD(decay, nesterov=True, momentum=0.9))
    model.fit(x, y, batch_size=FLAGS.batch_size, shuffle=False, verbose=0, callbacks=[LossPrinter()])


if __name__ == "__main__":
    app.run(main)
