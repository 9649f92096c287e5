# SPDX-License-Identifier: Apache-2.0
"""A recurrent net written by hand: tf.while_loop over a TensorArray, and gradients through it."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=8)
args = parser.parse_args()
tf.set_random_seed(2)
BATCH, UNITS, FEATURES = 16, 20, 6

x = tf.placeholder(tf.float32, [None, BATCH, FEATURES], name="x")  # time first
y = tf.placeholder(tf.float32, [BATCH], name="y")
time = tf.shape(x)[0]
w_x = tf.get_variable("w_x", [FEATURES, UNITS], initializer=tf.orthogonal_initializer(seed=1))
w_h = tf.get_variable("w_h", [UNITS, UNITS], initializer=tf.orthogonal_initializer(0.9, seed=2))
bias = tf.get_variable("bias", [UNITS], initializer=tf.zeros_initializer())
w_y = tf.get_variable("w_y", [UNITS, 1], initializer=tf.glorot_uniform_initializer(seed=3))

source = tf.TensorArray(tf.float32, time, name="source").unstack(x)
states = tf.TensorArray(tf.float32, time, element_shape=[BATCH, UNITS], name="states")


def one_step(t, state, written):
    state = tf.tanh(tf.matmul(source.read(t), w_x) + tf.matmul(state, w_h) + bias)
    return t + 1, state, written.write(t, state)


_, last, states = tf.while_loop(
    lambda t, *_: tf.less(t, time), one_step, (0, tf.zeros([BATCH, UNITS]), states), parallel_iterations=8
)
mean_state = tf.reduce_mean(states.stack(), axis=0)
predicted = tf.squeeze(tf.matmul(0.5 * (last + mean_state), w_y), 1)
loss = tf.losses.mean_squared_error(y, predicted)
optimizer = tf.train.RMSPropOptimizer(0.01, decay=0.9, momentum=0.1)
train = optimizer.minimize(loss)

rng = np.random.RandomState(9)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1, args.steps + 1):
        series = rng.randn(5 + step % 3, BATCH, FEATURES).astype(np.float32)  # lengths differ from step to step
        feed = {x: series, y: series[:, :, 0].mean(axis=0)}
        value, _ = sess.run([loss, train], feed_dict=feed)
        print("loss[%d] %.9g" % (step, value))
    print("last_state %.9g" % np.abs(sess.run(last, feed)).sum())
    print("recurrent_weights %.9g" % np.abs(sess.run(w_h)).sum())
