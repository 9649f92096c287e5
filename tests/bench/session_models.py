# SPDX-License-Identifier: Apache-2.0
"""Graphs of TensorFlow 1 whose training steps are timed: each builds into the default graph and gives what a step
fetches and what it is fed with."""

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
CLASSES = 10


def trained(logits, labels, optimizer):
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
    with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
        return optimizer.minimize(loss), loss


def classes(rng, count):
    return rng.integers(0, CLASSES, count)


def lenet_logits(images):
    net = tf1.layers.conv2d(images, 32, 5, padding="same", activation=tf.nn.relu)
    net = tf1.layers.max_pooling2d(net, 2, 2)
    net = tf1.layers.conv2d(net, 64, 5, padding="same", activation=tf.nn.relu)
    net = tf1.layers.max_pooling2d(net, 2, 2)
    net = tf1.layers.dense(tf1.layers.flatten(net), 1024, activation=tf.nn.relu)
    return tf1.layers.dense(net, CLASSES)


def lenet(rng):
    images, labels = tf1.placeholder(tf.float32, [64, 28, 28, 1]), tf1.placeholder(tf.int64, [64])
    step = trained(lenet_logits(images), labels, tf1.train.AdamOptimizer(1e-3))
    return step, {images: rng.normal(size=(64, 28, 28, 1)).astype(np.float32), labels: classes(rng, 64)}


def resnet18(rng):
    """On pictures of CIFAR's shape, in the style of slim."""

    def conv(x, depth, size, stride=1, activation=True):
        x = tf1.layers.conv2d(x, depth, size, stride, "same", use_bias=False)
        x = tf1.layers.batch_normalization(x, training=True, fused=True)
        return tf.nn.relu(x) if activation else x

    def block(x, depth, stride):
        shortcut = x if stride == 1 and x.shape[-1] == depth else conv(x, depth, 1, stride, activation=False)
        return tf.nn.relu(shortcut + conv(conv(x, depth, 3, stride), depth, 3, activation=False))

    images, labels = tf1.placeholder(tf.float32, [16, 32, 32, 3]), tf1.placeholder(tf.int64, [16])
    net = conv(images, 64, 3)
    for depth, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        net = block(net, depth, stride)
    logits = tf1.layers.dense(tf.reduce_mean(net, [1, 2]), CLASSES)
    step = trained(logits, labels, tf1.train.MomentumOptimizer(0.01, 0.9))
    return step, {images: rng.normal(size=(16, 32, 32, 3)).astype(np.float32), labels: classes(rng, 16)}


def dynamic_rnn(rng):
    """The rows of a picture through an LSTM of 128 units."""
    rows, labels = tf1.placeholder(tf.float32, [64, 28, 28]), tf1.placeholder(tf.int64, [64])
    cell = tf1.nn.rnn_cell.BasicLSTMCell(128, forget_bias=1.0)
    outputs, _ = tf1.nn.dynamic_rnn(cell, rows, dtype=tf.float32)
    logits = tf1.layers.dense(outputs[:, -1], CLASSES)
    step = trained(logits, labels, tf1.train.AdamOptimizer(1e-3))
    return step, {rows: rng.normal(size=(64, 28, 28)).astype(np.float32), labels: classes(rng, 64)}


def word2vec(rng, words=10000, size=128, batch=128):
    """Skip-gram with sampled softmax."""
    inputs, labels = tf1.placeholder(tf.int32, [batch]), tf1.placeholder(tf.int64, [batch, 1])
    embeddings = tf1.get_variable("embeddings", [words, size], initializer=tf1.random_uniform_initializer(-1, 1))
    weights = tf1.get_variable("weights", [words, size])
    biases = tf1.get_variable("biases", [words], initializer=tf1.zeros_initializer())
    found = tf1.nn.embedding_lookup(embeddings, inputs)
    loss = tf.reduce_mean(tf1.nn.sampled_softmax_loss(weights, biases, labels, found, 64, words))
    step = tf1.train.GradientDescentOptimizer(0.5).minimize(loss), loss
    return step, {inputs: rng.integers(0, words, batch), labels: rng.integers(0, words, (batch, 1))}


def read_by_itself(rng):
    """LeNet's step on small pictures that an iterator of the graph gives: nothing is fed."""
    images = rng.normal(size=(8, 12, 12, 1)).astype(np.float32)
    data = tf1.data.Dataset.from_tensors((images, classes(rng, 8))).repeat()
    x, labels = tf1.data.make_one_shot_iterator(data).get_next()
    net = tf1.layers.conv2d(x, 8, 3, padding="same", activation=tf.nn.relu)
    net = tf1.layers.flatten(tf1.layers.max_pooling2d(net, 2, 2))
    return trained(tf1.layers.dense(net, CLASSES), labels, tf1.train.MomentumOptimizer(0.01, 0.9))[0]


def estimated(features, labels, mode):
    """A model function for Estimators."""
    net = tf1.layers.conv2d(features["image"], 16, 3, padding="same", activation=tf.nn.relu)
    net = tf1.layers.flatten(tf1.layers.max_pooling2d(net, 2, 2))
    net = tf1.layers.dense(net, 128, tf.nn.relu)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, tf1.layers.dense(net, CLASSES))
    optimizer = tf1.train.AdamOptimizer(1e-3)
    train = optimizer.minimize(loss, global_step=tf1.train.get_global_step())
    return tf1.estimator.EstimatorSpec(mode, loss=loss, train_op=train)
