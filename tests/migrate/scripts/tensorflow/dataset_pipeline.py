# SPDX-License-Identifier: Apache-2.0
"""An input pipeline with tf.data: map, shuffle, repeat, batch, prefetch; model.fit with steps_per_epoch."""
import math
import random

import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.experimental.AUTOTUNE
BATCH_SIZE = 24
SEED = 13

for physical_device in tf.config.experimental.list_physical_devices(device_type="GPU"):
    tf.config.experimental.set_memory_growth(device=physical_device, enable=True)

random.seed(SEED)
tf.random.set_seed(SEED)


def normalize(image, label):
    image = tf.cast(image, tf.float32) / 255.0
    return tf.image.resize(image, [16, 16]), label


def pipeline(images, labels, training):
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    if training:
        dataset = dataset.shuffle(len(images), seed=SEED).repeat()
    dataset = dataset.map(normalize, num_parallel_calls=AUTOTUNE)
    dataset = dataset.batch(BATCH_SIZE, drop_remainder=training)
    return dataset.prefetch(buffer_size=AUTOTUNE)


rng = np.random.RandomState(SEED)
images = rng.randint(0, 256, size=(100, 12, 12, 3)).astype(np.uint8)
labels = rng.randint(0, 5, size=100).astype(np.int32)

model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(8, 3, strides=2, input_shape=(16, 16, 3)),
    tf.keras.layers.LeakyReLU(0.2),
    tf.keras.layers.SeparableConv2D(16, 3, activation="relu"),
    tf.keras.layers.GlobalMaxPooling2D(),
    tf.keras.layers.Dense(5, activation="softmax"),
])
model.compile("adagrad", "sparse_categorical_crossentropy", metrics=["acc"])


class Report(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        print("step", batch + 1, "loss", "%.8g" % logs["loss"])


steps = math.ceil(60 / BATCH_SIZE)
model.fit(pipeline(images, labels, True), steps_per_epoch=steps, epochs=1, callbacks=[Report()], verbose=0)
print("evaluation: %.4f %.4f" % tuple(model.evaluate(pipeline(images, labels, False), verbose=0)))
