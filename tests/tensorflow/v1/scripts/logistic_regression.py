# SPDX-License-Identifier: Apache-2.0
"""Softmax regression on clusters of points, with Adagrad, evaluated by its accuracy."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
flags = tf.app.flags
flags.DEFINE_integer("steps", 10, "batches to train on")
flags.DEFINE_float("learning_rate", 0.2, "of Adagrad")
FLAGS = flags.FLAGS


def clusters(count, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 4, count)
    centres = np.array([[1, 1, 0, 0], [1, -1, 0, 1], [-1, 1, 1, 0], [-1, -1, 1, 1]], np.float32)
    return centres[labels] + 0.4 * rng.randn(count, 4).astype(np.float32), np.eye(4, dtype=np.float32)[labels]


def main(_):
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.float32, [None, 4])
    weights = tf.get_variable("weights", [4, 4], initializer=tf.zeros_initializer())
    biases = tf.get_variable("biases", [4], initializer=tf.zeros_initializer())
    logits = tf.matmul(x, weights) + biases
    predicted = tf.nn.softmax(logits)
    cost = tf.reduce_mean(-tf.reduce_sum(y * tf.log(tf.clip_by_value(predicted, 1e-10, 1.0)), axis=1))
    optimizer = tf.train.AdagradOptimizer(FLAGS.learning_rate).minimize(cost)
    correct = tf.equal(tf.argmax(predicted, 1), tf.argmax(y, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

    features, targets = clusters(32 * FLAGS.steps, 2)
    test_features, test_targets = clusters(200, 3)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(FLAGS.steps):
            batch = slice(32 * step, 32 * step + 32)
            _, loss = sess.run([optimizer, cost], {x: features[batch], y: targets[batch]})
            print("loss[%d] %.9g" % (step + 1, loss))
        print("test_loss %.9g" % cost.eval({x: test_features, y: test_targets}))
        print("accuracy %.9g" % accuracy.eval({x: test_features, y: test_targets}))


if __name__ == "__main__":
    tf.app.run()
