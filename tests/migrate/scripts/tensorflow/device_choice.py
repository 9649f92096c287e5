# SPDX-License-Identifier: Apache-2.0
# A script that takes the GPU if there is one.
import os
import numpy as np
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')  # before TensorFlow is there
import tensorflow as tf

gpus = tf.config.list_physical_devices('GPU')
if gpus:
  try:
    tf.config.set_logical_device_configuration(
        gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
  except RuntimeError as e:
    print(e)
tf.config.threading.set_intra_op_parallelism_threads(2)
DEVICE = '/gpu:0' if gpus else '/cpu:0'


def seeded(shape, dtype=None):
  return tf.constant(np.random.default_rng(sum(shape)).standard_normal(shape) * 0.1, dtype)


rng = np.random.default_rng(5)
x = rng.standard_normal((80, 12)).astype('float32')
y = rng.standard_normal((80, 3)).astype('float32')

with tf.device(DEVICE):
  model = tf.keras.Sequential([
      tf.keras.layers.Dense(24, activation='tanh', kernel_initializer=seeded, input_shape=(12,)),
      tf.keras.layers.BatchNormalization(),
      tf.keras.layers.Dense(3, kernel_initializer=seeded),
  ])
  optimizer = tf.keras.optimizers.RMSprop(1e-3)


@tf.function
def train_step(images, targets):
  with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(model(images, training=True) - targets))
  grads = tape.gradient(loss, model.trainable_variables)
  optimizer.apply_gradients(zip(grads, model.trainable_variables))
  return loss


if __name__ == '__main__':
  with tf.device(DEVICE):
    for step in range(5):
      part = slice(16 * step, 16 * step + 16)
      print('step %d loss %.9g' % (step + 1, train_step(tf.constant(x[part]), tf.constant(y[part]))))
