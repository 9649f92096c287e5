# SPDX-License-Identifier: Apache-2.0
"""One transformer block on sequences of numbers, with a warm-up of the learning rate, on the first GPU."""

import npu_device as npu
npu.open().as_default()
import random

import numpy as np
import tensorflow as tf

tf.config.set_soft_device_placement(True)
random.seed(9)
tf.random.set_seed(9)


class TransformerBlock(tf.keras.layers.Layer):
    def __init__(self, width, heads, hidden, rate=0.0):
        super(TransformerBlock, self).__init__()
        self.attention = tf.keras.layers.MultiHeadAttention(num_heads=heads, key_dim=width // heads)
        self.feed_forward = tf.keras.Sequential([
            tf.keras.layers.Dense(hidden, activation='gelu'),
            tf.keras.layers.Dense(width),
        ])
        self.norm1 = tf.keras.layers.LayerNormalization(epsilon=1e-6)
        self.norm2 = tf.keras.layers.LayerNormalization(epsilon=1e-6)
        self.dropout = tf.keras.layers.Dropout(rate)

    def call(self, x, training=False):
        x = self.norm1(x + self.dropout(self.attention(x, x), training=training))
        return self.norm2(x + self.feed_forward(x))


class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
    """Rises for some steps, then falls with the root of the step."""

    def __init__(self, width, steps=100.0):
        self.scale = width ** -0.5
        self.steps = steps

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0
        return self.scale * tf.minimum(step ** -0.5, step * self.steps ** -1.5)

    def get_config(self):
        return {'steps': self.steps}


class Classifier(tf.keras.Model):
    def __init__(self, words, length, width=32):
        super().__init__()
        self.words = tf.keras.layers.Embedding(words, width)
        self.places = tf.keras.layers.Embedding(length, width)
        self.block = TransformerBlock(width, heads=4, hidden=64)
        self.pool = tf.keras.layers.GlobalAveragePooling1D()
        self.head = tf.keras.layers.Dense(2)

    def call(self, tokens, training=False):
        x = self.words(tokens) + self.places(tf.range(tf.shape(tokens)[1]))
        return self.head(self.pool(self.block(x, training=training)))


rng = np.random.RandomState(9)
with tf.device('/NPU:0'):
    model = Classifier(words=50, length=16)
    optimizer = tf.keras.optimizers.Adam(Warmup(32), beta_2=0.98, epsilon=1e-9)
    cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function(input_signature=[tf.TensorSpec([None, 16], tf.int32), tf.TensorSpec([None], tf.int32)])
    def train_step(tokens, labels):
        with tf.GradientTape() as tape:
            loss = cross_entropy(labels, model(tokens, training=True))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    for step in range(3):
        tokens = rng.randint(0, 50, size=(8, 16)).astype(np.int32)
        labels = (tokens.sum(1) % 2).astype(np.int32)
        print('step %d loss %.8g' % (step + 1, train_step(tokens, labels)))
