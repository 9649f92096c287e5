# SPDX-License-Identifier: Apache-2.0
"""Ordinary TensorFlow 2 training code for a GPU on scikit-learn's handwritten digits: a Keras model trained with
model.fit, then the same model trained by a tf.function of its own. Nothing in it knows of an NPU.

anynpu migrate digits_gpu.py && python digits_gpu_npu.py --epochs 10 --json result.json
"""

import argparse
import json
import time

import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--dropout", type=float, default=0.0)
parser.add_argument("--steps", type=int, default=0, help="stop after so many steps of each part (0: all)")
parser.add_argument("--json", help="write losses, accuracies and seconds here")
options = parser.parse_args()

gpus = tf.config.list_physical_devices("GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
DEVICE = "/gpu:0" if gpus else "/cpu:0"


def data():
    digits = load_digits()
    images = (digits.images / 16.0).astype("float32")[..., None]
    split = train_test_split(images, digits.target, test_size=0.2, stratify=digits.target, random_state=0)
    x_train, x_test, y_train, y_test = split
    train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2000, seed=0)
    train = train.batch(options.batch_size, drop_remainder=True)
    return train.take(options.steps) if options.steps else train, (x_test, y_test)


def network():
    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(16, 3, padding="same", use_bias=False),
            layers.BatchNormalization(momentum=0.9),
            layers.ReLU(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPool2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dropout(options.dropout),
            layers.Dense(10),
        ]
    )


def falling(rate, train):
    """A learning rate that falls to nothing over the run, as half a cosine."""
    return tf.keras.optimizers.schedules.CosineDecay(rate, options.epochs * int(train.cardinality()))


LOSS = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


class Losses(tf.keras.callbacks.Callback):
    """Keeps the loss of every batch and prints a line an epoch."""

    def __init__(self):
        super().__init__()
        self.losses, self.epochs = [], []

    def on_epoch_begin(self, epoch, logs=None):
        self.total, self.count, self.start = 0.0, 0, time.perf_counter()
        self.model.reset_metrics()

    def on_train_batch_end(self, batch, logs=None):
        mean = logs["loss"] * (batch + 1)  # Keras gives the mean since the epoch began
        self.losses.append(mean - self.total)
        self.total, self.count = mean, batch + 1

    def on_epoch_end(self, epoch, logs=None):
        note(self.epochs, self.params["epochs"], self.total / self.count, logs["val_accuracy"], self.start)


def note(epochs, total, loss, accuracy, start):
    seconds = time.perf_counter() - start
    epochs.append({"loss": float(loss), "accuracy": float(accuracy), "seconds": seconds})
    print(
        f"epoch {len(epochs):3d}/{total}  loss {loss:.4f}  accuracy {accuracy * 100:.2f} %  {seconds:.2f} s", flush=True
    )


def fit(train, test):
    """model.fit."""
    model = network()
    model.compile(tf.keras.optimizers.Adam(falling(4e-3, train)), LOSS, metrics=["accuracy"])
    kept = Losses()
    model.fit(train, epochs=options.epochs, validation_data=test, verbose=0, callbacks=[kept])
    return {"losses": kept.losses, "epochs": kept.epochs}


def loop(train, test):
    """A loop of one's own: gradients and updates in a tf.function."""
    model, optimizer = network(), tf.keras.optimizers.SGD(falling(0.1, train), momentum=0.9)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    losses, epochs = [], []
    for _ in range(options.epochs):
        start = time.perf_counter()
        of_epoch = [float(step(x, y)) for x, y in train]
        right = tf.argmax(model(test[0], training=False), 1) == test[1]
        losses += of_epoch
        note(epochs, options.epochs, sum(of_epoch) / len(of_epoch), tf.reduce_mean(tf.cast(right, tf.float32)), start)
    return {"losses": losses, "epochs": epochs}


train, test = data()
with tf.device(DEVICE):
    result = {"fit": fit(train, test), "loop": loop(train, test)}
    result["device"] = tf.constant(0.0).device
if options.json:
    with open(options.json, "w", encoding="utf-8") as file:
        json.dump(result, file)
