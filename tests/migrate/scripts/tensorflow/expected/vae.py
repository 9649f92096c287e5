# SPDX-License-Identifier: Apache-2.0
'''Variational autoencoder for 8x8 digits.'''
import npu_device as npu
npu.open().as_default()
import random
import tensorflow as tf
import numpy as np
from sklearn.datasets import load_digits

try:
    for device in tf.config.experimental.list_physical_devices('GPU'): None
except RuntimeError as e: print(e)

random.seed(0)
np.random.seed(0)
tf.random.set_seed(0)
latent_dim = 2


class CVAE(tf.keras.Model):
  """Convolutions down to a point of the latent space and up again."""

  def __init__(self, latent_dim):
    super(CVAE, self).__init__()
    self.latent_dim = latent_dim
    self.encoder = tf.keras.Sequential([
        tf.keras.layers.InputLayer(input_shape=(8, 8, 1)),
        tf.keras.layers.Conv2D(filters=8, kernel_size=3, strides=(2, 2), activation='relu'),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(latent_dim + latent_dim),
    ])
    self.decoder = tf.keras.Sequential([
        tf.keras.layers.InputLayer(input_shape=(latent_dim,)),
        tf.keras.layers.Dense(units=4 * 4 * 8, activation=tf.nn.relu),
        tf.keras.layers.Reshape(target_shape=(4, 4, 8)),
        tf.keras.layers.Conv2DTranspose(filters=8, kernel_size=3, strides=2, padding='same', activation='relu'),
        tf.keras.layers.Conv2DTranspose(filters=1, kernel_size=3, strides=1, padding='same'),
    ])

  def encode(self, x):
    mean, logvar = tf.split(self.encoder(x), num_or_size_splits=2, axis=1)
    return mean, logvar

  def reparameterize(self, mean, logvar):
    eps = tf.random.normal(shape=mean.shape)
    return eps * tf.exp(logvar * .5) + mean


def log_normal(sample, mean, logvar, raxis=1):
  log2pi = tf.math.log(2. * np.pi)
  return tf.reduce_sum(-.5 * ((sample - mean) ** 2. * tf.exp(-logvar) + logvar + log2pi), axis=raxis)


def compute_loss(model, x):
  mean, logvar = model.encode(x)
  z = model.reparameterize(mean, logvar)
  x_logit = model.decoder(z)
  cross_ent = tf.nn.sigmoid_cross_entropy_with_logits(logits=x_logit, labels=x)
  logpx_z = -tf.reduce_sum(cross_ent, axis=[1, 2, 3])
  return -tf.reduce_mean(logpx_z + log_normal(z, 0., 0.) - log_normal(z, mean, logvar)) / 64.  # of a pixel


@tf.function
def train_step(model, x, optimizer):
  with tf.GradientTape() as tape:
    loss = compute_loss(model, x)
  gradients = tape.gradient(loss, model.trainable_variables)
  optimizer.apply_gradients(zip(gradients, model.trainable_variables))
  return loss


images = (load_digits().images[..., None] > 8).astype('float32')
train_dataset = tf.data.Dataset.from_tensor_slices(images).shuffle(1000, seed=1).batch(32)
model = CVAE(latent_dim)
optimizer = tf.keras.optimizers.Adam(1e-3)
for step, batch in enumerate(train_dataset.take(3), 1):
  print('step {} loss {:.8g}'.format(step, train_step(model, batch, optimizer).numpy()))
