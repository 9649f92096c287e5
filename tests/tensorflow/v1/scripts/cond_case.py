# SPDX-License-Identifier: Apache-2.0
"""Branches in the graph: tf.cond over a placeholder inside the loss, tf.case over the step, a cond within a while loop,
assignments in branches."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=9)
args = parser.parse_args()

x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
use_l1 = tf.placeholder(tf.bool, [])
step = tf.train.get_or_create_global_step()
weight = tf.get_variable("weight", [4, 1], initializer=tf.random_normal_initializer(stddev=0.5, seed=130))
skipped = tf.get_variable("skipped", [], tf.int32, initializer=tf.zeros_initializer(), trainable=False)
residual = tf.matmul(x, weight) - y
loss = tf.cond(use_l1, lambda: tf.reduce_mean(tf.abs(residual)), lambda: tf.reduce_mean(tf.square(residual)))
rate = tf.case(
    [(tf.less(step, 3), lambda: tf.constant(0.1)), (tf.less(step, 6), lambda: tf.constant(0.05))],
    default=lambda: 0.3 / tf.cast(step, tf.float32),
    exclusive=False,
)
optimizer = tf.train.GradientDescentOptimizer(rate)
gradients = optimizer.compute_gradients(loss)
(gradient, _) = gradients[0]


def skip():
    with tf.control_dependencies([tf.assign_add(skipped, 1), tf.assign_add(step, 1)]):
        return tf.constant(False)


def apply():
    with tf.control_dependencies([optimizer.apply_gradients(gradients, global_step=step)]):
        return tf.constant(True)


applied = tf.cond(tf.greater(tf.norm(gradient), 0.7), apply, skip)


def collatz(n, count):
    return tf.cond(tf.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1), count + 1


start = tf.placeholder(tf.int32, [])
_, length = tf.while_loop(lambda n, _: n > 1, collatz, (start, 0))
squashed = tf.switch_case(start % 3, [lambda: tf.tanh(weight), lambda: tf.sigmoid(weight), lambda: weight * 2])

rng = np.random.RandomState(131)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(1, args.steps + 1):
        points = rng.randn(24, 4).astype(np.float32)
        feed = {x: points, y: points.mean(axis=1, keepdims=True), use_l1: i % 2 == 0}
        before, used = sess.run([loss, rate], feed)
        took = sess.run(applied, feed)
        print("loss[%d] %.9g" % (i, before))
        print("rate_%d %.9g" % (i, used))
        print("applied_%d %d" % (i, took))
    print("skipped %d" % sess.run(skipped))
    for n in (6, 7, 27):
        count, value = sess.run([length, squashed], {start: n})
        print("collatz_%d %d" % (n, count))
        print("squashed_%d %.9g" % (n, np.abs(value).sum()))
