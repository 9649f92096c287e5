# SPDX-License-Identifier: Apache-2.0
"""Gradients taken, clipped in each of TensorFlow's ways, accumulated over batches and applied; those of gradients
too."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=8)
parser.add_argument("--accumulate", type=int, default=2)
args = parser.parse_args()
tf.set_random_seed(180)

x, y = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.float32, [None, 1])
hidden = tf.layers.dense(x, 12, tf.nn.softplus)
output = tf.layers.dense(hidden, 1)
variables = tf.trainable_variables()
fit = tf.reduce_mean(tf.square(output - y))
(slope,) = tf.gradients(output, x)
penalty = tf.reduce_mean(tf.square(tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1) + 1e-6) - 1.0))
loss = fit + 0.1 * penalty  # its gradient goes through tf.gradients

sums = [tf.Variable(tf.zeros_like(each.initialized_value()), trainable=False) for each in variables]
clear = tf.group(*[each.assign(tf.zeros_like(each)) for each in sums])
optimizer = tf.train.AdamOptimizer(0.02)
computed = optimizer.compute_gradients(loss, variables)
accumulate = tf.group(*[each.assign_add(gradient) for each, (gradient, _) in zip(sums, computed)])
means = [each / args.accumulate for each in sums]
clipped, norm = tf.clip_by_global_norm(means, 0.5)
clipped = [tf.clip_by_norm(each, 0.4) for each in clipped]
clipped = [tf.clip_by_value(each, -0.2, 0.2) for each in clipped]
train = optimizer.apply_gradients(list(zip(clipped, variables)))

rng = np.random.RandomState(181)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1, args.steps + 1):
        sess.run(clear)
        for _ in range(args.accumulate):
            points = rng.randn(16, 5).astype(np.float32)
            feed = {x: points, y: np.sin(points[:, :1]) * 3}
            value, _ = sess.run([loss, accumulate], feed)
        size, _ = sess.run([norm, train])
        print("loss[%d] %.9g" % (step, value))
        print("norm[%d] %.9g" % (step, size))
    print("penalty %.9g" % sess.run(penalty, feed))
    print("first_moment %.9g" % np.abs(sess.run(optimizer.get_slot(variables[0], "m"))).sum())
