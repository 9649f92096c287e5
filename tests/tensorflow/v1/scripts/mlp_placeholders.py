# SPDX-License-Identifier: Apache-2.0
"""A multilayer perceptron whose weights are kept in dictionaries, with dropout fed as a placeholder."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=10)
steps = parser.parse_args().steps
tf.set_random_seed(7)

n_input, n_hidden_1, n_hidden_2, n_classes, batch_size = 20, 64, 32, 5, 50
rng = np.random.RandomState(4)
teacher = rng.randn(n_input, n_classes)


def next_batch():
    points = rng.randn(batch_size, n_input).astype(np.float32)
    return points, np.eye(n_classes, dtype=np.float32)[np.argmax(points @ teacher, axis=1)]


x = tf.placeholder("float", [None, n_input])
y = tf.placeholder("float", [None, n_classes])
keep_prob = tf.placeholder_with_default(1.0, shape=[])
weights = {
    "h1": tf.Variable(tf.random_normal([n_input, n_hidden_1], stddev=0.2)),
    "h2": tf.Variable(tf.truncated_normal([n_hidden_1, n_hidden_2], stddev=0.2)),
    "out": tf.Variable(tf.random_uniform([n_hidden_2, n_classes], -0.2, 0.2)),
}
biases = {
    "b1": tf.Variable(tf.zeros([n_hidden_1])),
    "b2": tf.Variable(tf.constant(0.1, shape=[n_hidden_2])),
    "out": tf.Variable(tf.zeros([n_classes])),
}


def multilayer_perceptron(inputs):
    layer_1 = tf.nn.relu(tf.nn.xw_plus_b(inputs, weights["h1"], biases["b1"]))
    layer_1 = tf.nn.dropout(layer_1, keep_prob=keep_prob, seed=11)
    layer_2 = tf.tanh(tf.matmul(layer_1, weights["h2"]) + biases["b2"])
    return tf.matmul(layer_2, weights["out"]) + biases["out"]


logits = multilayer_perceptron(x)
loss_op = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(logits=logits, labels=y))
train_op = tf.train.AdamOptimizer(learning_rate=0.005).minimize(loss_op)
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1)), "float"))
init = tf.global_variables_initializer()

with tf.Session() as sess:
    sess.run(init)
    for step in range(1, steps + 1):
        batch_x, batch_y = next_batch()
        _, c = sess.run([train_op, loss_op], feed_dict={x: batch_x, y: batch_y, keep_prob: 0.9})
        print("loss[%d] %.9g" % (step, c))
    test_x, test_y = next_batch()
    print("test_loss %.9g" % sess.run(loss_op, feed_dict={x: test_x, y: test_y}))
    print("accuracy %.9g" % sess.run(accuracy, feed_dict={x: test_x, y: test_y}))
