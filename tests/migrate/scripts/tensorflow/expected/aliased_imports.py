# SPDX-License-Identifier: Apache-2.0
"""The same interface under several names: aliases, from-imports, and a function of our own that also takes lr."""
import npu_device as npu
npu.open().as_default()
import argparse
import random

import numpy as np
import tensorflow.compat.v2 as tf
from tensorflow import keras
from tensorflow.config.experimental import set_memory_growth as grow
from tensorflow.keras.optimizers import Adam as Optimizer

config = tf.config.experimental


def set_up_gpu():
    for gpu in config.list_physical_devices('GPU'):
        None
        None


def describe(name, lr):
    return '%s with a learning rate of %g' % (name, lr)


def make_optimizer(name, lr):
    print(describe(name, lr=lr))
    if name == 'adam':
        return Optimizer(learning_rate=lr)
    return keras.optimizers.legacy.SGD(learning_rate=lr, decay=1e-6, momentum=0.9, nesterov=True)


def train(name, inputs, targets, steps):
    tf.random.set_seed(5)
    random.seed(5)
    model = keras.models.Sequential([
        keras.layers.Dense(32, activation='elu', input_shape=(inputs.shape[1],)),
        keras.layers.Dense(1),
    ])
    model.compile(loss='mse', optimizer=make_optimizer(name, 0.02))
    return [model.train_on_batch(inputs, targets) for _ in range(steps)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--steps', default=3, type=int, help='how many steps to train with each optimizer')
    flags = parser.parse_args()
    set_up_gpu()
    rng = np.random.RandomState(5)
    inputs = rng.rand(40, 6).astype('float32')
    targets = inputs @ np.arange(6, dtype='float32')[:, None] / 6
    losses = train('adam', inputs, targets, flags.steps) + train('sgd', inputs, targets, flags.steps)
    for i, loss in enumerate(losses):
        print('step %d loss %.8g' % (i + 1, loss))


if __name__ == '__main__':
    main()
