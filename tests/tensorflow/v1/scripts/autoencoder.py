# SPDX-License-Identifier: Apache-2.0
"""An autoencoder of two layers each way, trained with RMSProp; then a variational one beside it in another graph."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
SIZE, HIDDEN, CODE = 64, 32, 8


def pictures(count):
    rng = np.random.RandomState(40)
    return (rng.rand(count, 4) @ rng.rand(4, SIZE) / 4).astype(np.float32)


def plain(steps, data):
    X = tf.placeholder(tf.float32, [None, SIZE])
    sizes = [SIZE, HIDDEN, CODE, HIDDEN, SIZE]
    net = X
    for i, (before, after) in enumerate(zip(sizes, sizes[1:])):
        weight = tf.Variable(tf.random_normal([before, after], stddev=0.3, seed=i))
        net = tf.nn.sigmoid(tf.add(tf.matmul(net, weight), tf.Variable(tf.random_normal([after], stddev=0.1, seed=i))))
    loss = tf.reduce_mean(tf.pow(X - net, 2))
    optimizer = tf.train.RMSPropOptimizer(0.01).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(1, steps + 1):
            _, value = sess.run([optimizer, loss], {X: data})
            print("loss[%d] %.9g" % (step, value))
        print("reconstructed %.9g" % sess.run(net, {X: data[:4]}).sum())


def variational(steps, data):
    X = tf.placeholder(tf.float32, [None, SIZE])
    hidden = tf.layers.dense(X, HIDDEN, tf.nn.tanh)
    mean, log_variance = tf.split(tf.layers.dense(hidden, 2 * CODE), 2, axis=1)
    eps = tf.random_normal(tf.shape(mean), dtype=tf.float32, mean=0.0, stddev=1.0, name="epsilon")
    code = mean + tf.exp(log_variance / 2) * eps
    logits = tf.layers.dense(tf.layers.dense(code, HIDDEN, tf.nn.tanh), SIZE)
    reconstruction = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=X, logits=logits), 1)
    divergence = -0.5 * tf.reduce_sum(1 + log_variance - tf.square(mean) - tf.exp(log_variance), 1)
    loss = tf.reduce_mean(reconstruction + divergence) / SIZE
    train = tf.train.AdamOptimizer(0.003).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(1, steps + 1):
            _, value = sess.run([train, loss], {X: data})
            print("variational_loss[%d] %.9g" % (step, value))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    count = parser.parse_args().steps
    plain(count, pictures(64))
    tf.reset_default_graph()
    with tf.Graph().as_default():
        tf.set_random_seed(41)
        variational(count, pictures(64))
