# SPDX-License-Identifier: Apache-2.0
"""Training with a loop of one's own: a tf.function around a GradientTape.

Run it with:  python custom_loop.py --batch-size 32 --steps 3
"""
from __future__ import absolute_import
from __future__ import division, print_function

import npu_device as npu
npu.open().as_default()
import argparse
import os
import random

import numpy as np
import tensorflow as tf

os.environ['CUDA_VISIBLE_DEVICES'] = os.environ.get('CUDA_VISIBLE_DEVICES', '0')


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch-size', type=int, default=32)
    parser.add_argument('--learning-rate', type=float, default=0.05)
    parser.add_argument('--steps', type=int, default=3)
    parser.add_argument('--seed', type=int, default=7)
    return parser.parse_args()


def limit_gpu_memory():
    physical_devices = tf.config.list_physical_devices('GPU')
    for device in physical_devices:
        None


def make_data(count, seed):
    rng = np.random.RandomState(seed)
    x = rng.randn(count, 20).astype(np.float32)
    y = (x[:, 0] * 2 + x[:, 1] - x[:, 2] ** 2 > 0).astype(np.int64) + 2 * (x[:, 3] > 0.5)
    return x, y.astype(np.int64)


class Net(tf.keras.Model):
    def __init__(self, classes=4):
        super(Net, self).__init__()
        self.hidden = tf.keras.layers.Dense(64, activation='tanh')
        self.norm = tf.keras.layers.LayerNormalization()
        self.out = tf.keras.layers.Dense(classes)

    def call(self, inputs, training=None):
        return self.out(self.norm(self.hidden(inputs)))


def main():
    args = parse_args()
    limit_gpu_memory()
    random.seed(args.seed)
    tf.random.set_seed(args.seed)

    model = Net()
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(learning_rate=args.learning_rate, momentum=0.9)
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            logits = model(images, training=True)
            loss = loss_object(labels, logits)
        grads = tape.gradient(loss, model.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 5.0)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        accuracy.update_state(labels, logits)
        return loss

    x, y = make_data(args.batch_size * args.steps, args.seed)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(args.batch_size)
    for step, (batch_x, batch_y) in enumerate(dataset):
        loss = train_step(batch_x, batch_y)
        print('step %d loss %.8g' % (step + 1, loss.numpy()))
    print('accuracy %.4f' % accuracy.result().numpy())


if __name__ == '__main__':
    main()
