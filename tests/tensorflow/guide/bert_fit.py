# SPDX-License-Identifier: Apache-2.0
"""Chapters 9.1, 9.2 and the parts of 6.7 for model.fit and NumPy arrays: a small encoder in the manner of BERT with its
own GELU, trained in automatic mixed precision with a scaled loss.

Lines that the guide adds end with "added", lines that it changes with what stood there."""

import npu_device as npu  # added

npu.global_options().precision_mode_v2 = "mixed_float16"  # added
npu.open().as_default()  # added

import argparse
import json

import numpy as np
import tensorflow as tf

WORDS, LENGTH, WIDTH, HEADS, CLASSES = 40, 12, 32, 4, 4

parser = argparse.ArgumentParser()
parser.add_argument("--rank_size", type=int, default=1)
parser.add_argument("--device_id", type=int, default=0)
parser.add_argument("--batch_size", type=int, default=16)
parser.add_argument("--by_minimize", action="store_true", help="a loop with optimizer.minimize instead of model.fit")
args = parser.parse_args()


def gelu(x):
    """Gaussian Error Linear Unit."""
    return npu.ops.gelu(x)  # was: return tf.keras.activations.gelu(x, approximate=True)


def dense(units, seed, activation=None):
    return tf.keras.layers.Dense(units, activation, kernel_initializer=tf.keras.initializers.GlorotUniform(seed))


class Attention(tf.keras.layers.Layer):
    def __init__(self, seed):
        super().__init__()
        self.query, self.key, self.value, self.out = (dense(WIDTH, seed + i) for i in range(4))

    def call(self, x):
        def heads(layer):
            split = tf.reshape(layer(x), [-1, LENGTH, HEADS, WIDTH // HEADS])
            return tf.transpose(split, [0, 2, 1, 3])

        scores = tf.matmul(heads(self.query), heads(self.key), transpose_b=True) * (WIDTH // HEADS) ** -0.5
        mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), heads(self.value)), [0, 2, 1, 3])
        return self.out(tf.reshape(mixed, [-1, LENGTH, WIDTH]))


def build_model():
    layers = tf.keras.layers
    words = layers.Input((LENGTH,), dtype="int32")
    x = layers.Embedding(WORDS, WIDTH, embeddings_initializer=tf.keras.initializers.RandomNormal(seed=1))(words)
    for seed in (10, 20):
        x = layers.LayerNormalization()(x + Attention(seed)(x))
        x = layers.LayerNormalization()(x + dense(WIDTH, seed + 5)(dense(4 * WIDTH, seed + 6, gelu)(x)))
    return tf.keras.Model(words, dense(CLASSES, 30)(x[:, 0]))


rng = np.random.default_rng(2)
x_train = rng.integers(0, WORDS, (256, LENGTH)).astype("int32")
y_train = x_train[:, 0] % CLASSES
x_trains, y_trains = np.split(x_train, args.rank_size), np.split(y_train, args.rank_size)  # added
x_train, y_train = x_trains[args.device_id], y_trains[args.device_id]  # added
batch_size = args.batch_size // args.rank_size  # was: batch_size = args.batch_size

model = build_model()
npu.distribute.broadcast(model.trainable_variables)  # added
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.SGD(learning_rate=0.02, momentum=0.9)
optimizer = npu.distribute.npu_distributed_keras_optimizer_wrapper(optimizer)  # added
if args.by_minimize:
    dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).repeat(2).batch(batch_size, drop_remainder=True)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_object(y, model(x, training=True))
        optimizer.minimize(loss, model.trainable_variables, tape=tape)
        return loss

    losses = [float(train_step(x, y)) for x, y in dataset]
else:
    optimizer = npu.train.optimizer.NpuLossScaleOptimizer(optimizer)  # was: optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer)
    losses = []
    told = tf.keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: losses.append(logs["loss"]))
    model.compile(optimizer=optimizer, loss=loss_object)
    model.fit(x_train, y_train, batch_size=batch_size, epochs=2, shuffle=False, verbose=0, callbacks=[told])
print(json.dumps({"losses": losses}))
