# SPDX-License-Identifier: Apache-2.0
"""Every schedule of tf.train against the step, and a small model under each of several optimizers with one of them."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def schedules(step):
    return {
        "exponential": tf.train.exponential_decay(0.1, step, 3, 0.5),
        "staircase": tf.train.exponential_decay(0.1, step, 3, 0.5, staircase=True),
        "inverse_time": tf.train.inverse_time_decay(0.1, step, 3, 0.5),
        "natural_exp": tf.train.natural_exp_decay(0.1, step, 3, 0.5),
        "piecewise": tf.train.piecewise_constant(step, [2, 5], [0.1, 0.05, 0.01]),
        "polynomial": tf.train.polynomial_decay(0.1, step, 6, 0.01, power=2.0),
        "cosine": tf.train.cosine_decay(0.1, step, 8, alpha=0.1),
        "restarts": tf.train.cosine_decay_restarts(0.1, step, 3),
        "linear_cosine": tf.train.linear_cosine_decay(0.1, step, 8),
    }


OPTIMIZERS = {
    "sgd": tf.train.GradientDescentOptimizer,
    "momentum": lambda rate: tf.train.MomentumOptimizer(rate, 0.9),
    "adam": tf.train.AdamOptimizer,
    "adagrad": tf.train.AdagradOptimizer,
    "adagrad_da": lambda rate: tf.train.AdagradDAOptimizer(rate, tf.train.get_global_step()),
    "adadelta": lambda rate: tf.train.AdadeltaOptimizer(rate * 10),
    "rmsprop": lambda rate: tf.train.RMSPropOptimizer(rate, centered=True),
    "ftrl": lambda rate: tf.train.FtrlOptimizer(rate, l1_regularization_strength=0.001),
    "proximal_sgd": lambda rate: tf.train.ProximalGradientDescentOptimizer(rate, l2_regularization_strength=0.01),
    "proximal_adagrad": lambda rate: tf.train.ProximalAdagradOptimizer(rate, l1_regularization_strength=0.001),
}


def train(kind, steps, rng):
    with tf.Graph().as_default(), tf.Session() as sess:
        step = tf.train.get_or_create_global_step()
        x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 1])
        start = tf.random_uniform_initializer(-0.5, 0.5, seed=190)
        hidden = tf.layers.dense(x, 6, tf.nn.tanh, kernel_initializer=start)
        loss = tf.losses.mean_squared_error(y, tf.layers.dense(hidden, 1, kernel_initializer=start))
        optimizer = OPTIMIZERS[kind](tf.train.exponential_decay(0.05, step, 4, 0.8))
        minimize = optimizer.minimize(loss, global_step=step)
        sess.run(tf.global_variables_initializer())
        for i in range(1, steps + 1):
            points = rng.randn(16, 4).astype(np.float32)
            value, _ = sess.run([loss, minimize], {x: points, y: points.sum(axis=1, keepdims=True)})
            print("%s_loss[%d] %.9g" % (kind, i, value))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5)
    steps = parser.parse_args().steps
    with tf.Graph().as_default(), tf.Session() as sess:
        step = tf.train.get_or_create_global_step()
        rates, forward = schedules(step), tf.assign_add(step, 1)
        sess.run(tf.global_variables_initializer())
        for i in range(9):
            for name, rate in sorted(sess.run(rates).items()):
                print("%s_%d %.9g" % (name, i, rate))
            sess.run(forward)
    for kind in OPTIMIZERS:
        train(kind, steps, np.random.RandomState(191))


if __name__ == "__main__":
    main()
