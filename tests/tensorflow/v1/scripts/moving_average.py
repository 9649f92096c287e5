# SPDX-License-Identifier: Apache-2.0
"""Averages of the weights by ExponentialMovingAverage, saved under the names of the weights for evaluation."""

import argparse
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=8)
args = parser.parse_args()
rng = np.random.RandomState(170)
batches = rng.randn(args.steps, 16, 7).astype(np.float32)
teacher = rng.randn(7, 1).astype(np.float32)
path = os.path.join(tempfile.mkdtemp(), "averaged")


def model(x):
    weight = tf.get_variable("weight", [7, 1], initializer=tf.random_normal_initializer(seed=171))
    bias = tf.get_variable("bias", [1], initializer=tf.zeros_initializer())
    return tf.matmul(x, weight) + bias


with tf.Graph().as_default(), tf.Session() as sess:
    x, y = tf.placeholder(tf.float32, [None, 7]), tf.placeholder(tf.float32, [None, 1])
    step = tf.train.get_or_create_global_step()
    loss = tf.losses.mean_squared_error(y, model(x))
    minimize = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
    average = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
    of_losses = tf.train.ExponentialMovingAverage(0.8, zero_debias=True, name="losses")
    with tf.control_dependencies([minimize]):
        train = tf.group(average.apply(tf.trainable_variables()), of_losses.apply([loss]))
    saver = tf.train.Saver()
    sess.run(tf.global_variables_initializer())
    for i, points in enumerate(batches, 1):
        value, _ = sess.run([loss, train], {x: points, y: points @ teacher})
        print("loss[%d] %.9g" % (i, value))
    print("average_loss %.9g" % sess.run(of_losses.average(loss)))
    print("weight %.9g" % np.abs(sess.run("weight:0")).sum())
    saver.save(sess, path)

with tf.Graph().as_default(), tf.Session() as sess:
    x, y = tf.placeholder(tf.float32, [None, 7]), tf.placeholder(tf.float32, [None, 1])
    loss = tf.losses.mean_squared_error(y, model(x))
    restored = tf.train.ExponentialMovingAverage(0.9).variables_to_restore()
    tf.train.Saver(restored).restore(sess, path)
    print("averaged_weight %.9g" % np.abs(sess.run("weight:0")).sum())
    print("evaluated %.9g" % sess.run(loss, {x: batches[0], y: batches[0] @ teacher}))
