# SPDX-License-Identifier: Apache-2.0
"""Mixed precision as it was written for TensorFlow 2.1 to 2.3, with names that later versions dropped."""
import random

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers
from tensorflow.keras.mixed_precision import experimental as mixed_precision
from tensorflow.keras.optimizers import SGD

random.seed(11)
tf.random.set_seed(11)
physical_devices = tf.config.list_physical_devices('GPU')
try:
    tf.config.experimental.set_memory_growth(physical_devices[0], True)
except IndexError:
    print('no GPU here')

policy = mixed_precision.Policy('mixed_float16')
mixed_precision.set_policy(policy)
print('policy', tf.keras.mixed_precision.experimental.global_policy().name)


class Residual(layers.Layer):
    """Two dense layers and a way around them."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.first = layers.Dense(units, activation='relu')
        self.second = layers.Dense(units)
        self.norm = layers.LayerNormalization()

    def call(self, inputs):
        return self.norm(inputs + self.second(self.first(inputs)))


model = tf.keras.Sequential([
    layers.Dense(48, input_shape=(24,)),
    Residual(48),
    Residual(48),
    layers.Dense(3),
    layers.Activation('softmax', dtype='float32'),
])
model.compile(SGD(lr=1e-3), 'sparse_categorical_crossentropy')

generator = np.random.RandomState(11)
for step in range(1, 4):
    features = generator.normal(size=(16, 24)).astype(np.float32)
    labels = generator.randint(0, 3, size=16)
    print('step {} loss {:.8g}'.format(step, model.train_on_batch(features, labels)))
