# SPDX-License-Identifier: Apache-2.0
"""A straight line through noisy points, by gradient descent over placeholders."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=10)
FLAGS = parser.parse_args()

rng = np.random.RandomState(1)
train_x = rng.uniform(-1, 1, 64).astype(np.float32)
train_y = 2.5 * train_x - 0.7 + 0.05 * rng.randn(64).astype(np.float32)

X = tf.placeholder(tf.float32, name="X")
Y = tf.placeholder(tf.float32, name="Y")
W = tf.Variable(0.1, name="weight")
b = tf.Variable(0.0, name="bias")
prediction = tf.add(tf.multiply(X, W), b)
cost = tf.reduce_sum(tf.pow(prediction - Y, 2)) / (2 * len(train_x))
train = tf.train.GradientDescentOptimizer(0.3).minimize(cost)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1, FLAGS.steps + 1):
        sess.run(train, feed_dict={X: train_x, Y: train_y})
        print("loss[%d] %.9g" % (step, sess.run(cost, feed_dict={X: train_x, Y: train_y})))
    one_by_one = [sess.run(prediction, feed_dict={X: x}) for x in train_x[:4]]
    print("slope %.9g" % sess.run(W))
    print("intercept %.9g" % b.eval())
    print("first_predictions %.9g" % np.sum(one_by_one))
