# SPDX-License-Identifier: Apache-2.0
"""Mixed precision in a loop of one's own, where the loss is scaled by hand."""
import npu_device as npu
npu.open().as_default()
import random

import numpy as np
import tensorflow as tf

BATCH = 32


def build_model():
    return tf.keras.Sequential([
        tf.keras.layers.Dense(64, activation='relu', input_shape=(32,)),
        tf.keras.layers.Dense(64, activation='relu'),
        tf.keras.layers.Dense(5, dtype='float32'),
    ])


def main():
    for gpu in tf.config.list_physical_devices('GPU'):
        None
    random.seed(0)
    tf.random.set_seed(0)
    tf.keras.mixed_precision.set_global_policy('mixed_float16')

    model = build_model()
    optimizer = tf.keras.optimizers.SGD(learning_rate=1e-3)
    optimizer = npu.train.optimizer.NpuLossScaleOptimizer(optimizer)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
            scaled_loss = optimizer.get_scaled_loss(loss)
        scaled_gradients = tape.gradient(scaled_loss, model.trainable_variables)
        gradients = optimizer.get_unscaled_gradients(scaled_gradients)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    rng = np.random.RandomState(0)
    for step in range(3):
        x = rng.uniform(-1, 1, (BATCH, 32)).astype('float32')
        y = rng.randint(0, 5, BATCH)
        print('step %d loss %.8g' % (step + 1, train_step(x, y)))


if __name__ == "__main__":
    main()
