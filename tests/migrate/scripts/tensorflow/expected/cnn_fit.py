# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network for handwritten digits, trained with model.fit on whatever GPU is there."""
import npu_device as npu
npu.open().as_default()
import random

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from tensorflow.keras import layers, models

random.seed(42)
np.random.seed(42)
tf.random.set_seed(42)

# Take GPU memory bit by bit, others want some too.
gpus = tf.config.experimental.list_physical_devices('GPU')
if gpus:
    try:
        for gpu in gpus:
            None
        print(len(gpus), 'GPU(s) found')
    except RuntimeError as error:
        print(error)  # too late, the GPUs are in use

digits = load_digits()
train_images = (digits.images[:96, ..., np.newaxis] / 16.0).astype('float32')
train_labels = digits.target[:96]

model = models.Sequential()
model.add(layers.Conv2D(16, (3, 3), activation='relu', padding='same', input_shape=(8, 8, 1)))
model.add(layers.MaxPooling2D((2, 2)))
model.add(layers.Conv2D(32, (3, 3), padding='same', use_bias=False))
model.add(layers.BatchNormalization())
model.add(layers.Activation('relu'))
model.add(layers.Flatten())
model.add(layers.Dense(32, activation='relu'))
model.add(layers.Dense(10))

model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=0.001, beta_1=0.9),
              loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=['accuracy'])


class PrintLoss(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        print('step {} loss {:.8g}'.format(batch + 1, logs['loss']))


model.fit(train_images, train_labels, batch_size=32, epochs=1, shuffle=False, verbose=0, callbacks=[PrintLoss()])
test_loss, test_acc = model.evaluate(train_images, train_labels, verbose=0)
print('accuracy %.4f' % test_acc)
