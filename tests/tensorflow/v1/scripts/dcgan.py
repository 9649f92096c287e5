# SPDX-License-Identifier: Apache-2.0
"""A DCGAN: transposed convolutions against convolutions, two optimizers over the variables of their scopes."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=6)
args = parser.parse_args()
tf.set_random_seed(30)
BATCH, NOISE = 16, 20


def leaky_relu(x, alpha=0.2):
    return 0.5 * (1 + alpha) * x + 0.5 * (1 - alpha) * abs(x)


def generator(z, training, reuse=False):
    with tf.variable_scope("Generator", reuse=reuse):
        x = tf.layers.dense(z, 4 * 4 * 32)
        x = tf.nn.relu(tf.layers.batch_normalization(tf.reshape(x, [-1, 4, 4, 32]), training=training))
        x = tf.layers.conv2d_transpose(x, 16, 5, strides=2, padding="same")
        x = tf.nn.relu(tf.layers.batch_normalization(x, training=training))
        return tf.nn.tanh(tf.layers.conv2d_transpose(x, 1, 5, strides=2, padding="same"))


def discriminator(x, training, reuse=False):
    with tf.variable_scope("Discriminator", reuse=reuse):
        x = leaky_relu(tf.layers.conv2d(x, 16, 5, strides=2, padding="same"))
        x = tf.layers.conv2d(x, 32, 5, strides=2, padding="same")
        x = leaky_relu(tf.layers.batch_normalization(x, training=training))
        return tf.layers.dense(tf.layers.flatten(x), 2)


noise_input = tf.placeholder(tf.float32, [None, NOISE])
real_input = tf.placeholder(tf.float32, [None, 16, 16, 1])
training = tf.placeholder(tf.bool, [])
fake = generator(noise_input, training)
real_logits = discriminator(real_input, training)
fake_logits = discriminator(fake, training, reuse=True)


def against(logits, label):
    labels = tf.fill([tf.shape(logits)[0]], label)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels))


disc_loss = against(real_logits, 1) + against(fake_logits, 0)
gen_loss = against(fake_logits, 1)
gen_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="Generator")
disc_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="Discriminator")
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope="Generator")):
    train_gen = tf.train.AdamOptimizer(1e-3, beta1=0.5, beta2=0.999).minimize(gen_loss, var_list=gen_vars)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope="Discriminator")):
    train_disc = tf.train.AdamOptimizer(1e-3, beta1=0.5, beta2=0.999).minimize(disc_loss, var_list=disc_vars)

rng = np.random.RandomState(31)
grid = np.linspace(-3, 3, 16)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1, args.steps + 1):
        phase = rng.rand(BATCH, 1, 1, 1) * 6
        real = np.sin(grid[None, :, None, None] + phase) * np.cos(grid[None, None, :, None])
        z = rng.uniform(-1.0, 1.0, [BATCH, NOISE])
        feed = {real_input: real, noise_input: z, training: True}
        _, d = sess.run([train_disc, disc_loss], feed_dict=feed)
        _, g = sess.run([train_gen, gen_loss], feed_dict=feed)
        print("generator_loss[%d] %.9g" % (step, g))
        print("discriminator_loss[%d] %.9g" % (step, d))
    images = sess.run(fake, feed_dict={noise_input: z, training: False})
    print("image_mean %.9g" % np.abs(images).mean())
