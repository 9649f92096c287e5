# SPDX-License-Identifier: Apache-2.0
"""Keras callbacks around model.fit: checkpoints, a schedule, a log as CSV; then the best weights are loaded again."""
import os
import random
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras.callbacks import (
    Callback,
    CSVLogger,
    EarlyStopping,
    LearningRateScheduler,
    ModelCheckpoint,
    ReduceLROnPlateau,
)


def schedule(epoch, lr):
    return lr if epoch < 1 else lr * 0.5


class StepLoss(Callback):
    steps = 0

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1
        print("step %d loss %.8g" % (self.steps, logs["loss"]))


def dense_autoencoder(width, code):
    inputs = tf.keras.Input((width,))
    x = tf.keras.layers.Dense(32, activation="relu")(inputs)
    x = tf.keras.layers.Dense(code, activation="relu")(x)
    x = tf.keras.layers.Dense(32, activation="relu")(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(width, activation="sigmoid")(x))


def main(folder):
    if tf.test.is_built_with_cuda():
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    random.seed(2)
    tf.random.set_seed(2)
    data = np.random.RandomState(2).rand(40, 16).astype("float32")

    model = dense_autoencoder(16, 8)
    model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=0.01), loss="mse", metrics=["mae"])
    best = os.path.join(folder, "best.h5")
    callbacks = [
        ModelCheckpoint(best, monitor="val_loss", save_best_only=True, save_weights_only=True),
        EarlyStopping(monitor="val_loss", patience=3, restore_best_weights=True),
        ReduceLROnPlateau(monitor="val_loss", factor=0.2, patience=2),
        LearningRateScheduler(schedule),
        CSVLogger(os.path.join(folder, "log.csv")),
        StepLoss(),
    ]
    model.fit(data[:32], data[:32], epochs=3, batch_size=32, shuffle=False, validation_data=(data[32:], data[32:]),
              callbacks=callbacks, verbose=0)

    model.load_weights(best)
    loss, mae = model.evaluate(data[32:], data[32:], verbose=0)
    # What the saved weights give counts as one more step.
    print("step %d loss %.8g" % (4, loss))
    assert os.path.getsize(os.path.join(folder, "log.csv")) > 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(folder)
