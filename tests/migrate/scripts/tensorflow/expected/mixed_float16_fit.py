# SPDX-License-Identifier: Apache-2.0
import npu_device as npu
npu.open().as_default()
import random

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, mixed_precision

# Half precision for the tensor cores; model.compile adds the scaling of the loss by itself.
policy = mixed_precision.Policy('mixed_float16')
mixed_precision.set_global_policy(policy)
print('Compute dtype: %s' % policy.compute_dtype)
print('Variable dtype: %s' % policy.variable_dtype)

random.seed(3)
tf.random.set_seed(3)

inputs = keras.Input(shape=(64,), name='digits')
x = layers.Dense(64, activation='relu', name='dense_1')(inputs)
x = layers.Dense(64, activation='relu', name='dense_2')(x)
x = layers.Dense(10, name='dense_logits')(x)
outputs = layers.Activation('softmax', dtype='float32', name='predictions')(x)
model = keras.Model(inputs=inputs, outputs=outputs)
model.compile(loss='sparse_categorical_crossentropy', optimizer=keras.optimizers.SGD(1e-3), metrics=['accuracy'])

rng = np.random.default_rng(3)
x_train = rng.normal(size=(192, 64)).astype('float32')
y_train = rng.integers(0, 10, 192)

loss_of_batch = keras.callbacks.LambdaCallback(
    on_batch_end=lambda batch, logs: print('step %d loss %.8g' % (batch + 1, logs['loss'])))
model.fit(x_train, y_train, batch_size=64, epochs=1, shuffle=False, callbacks=[loss_of_batch], verbose=0)
