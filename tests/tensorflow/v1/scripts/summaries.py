# SPDX-License-Identifier: Apache-2.0
"""Summaries of losses, histograms and pictures, merged, written by FileWriters and read again."""

import argparse
import glob
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=6)
args = parser.parse_args()
folder = tempfile.mkdtemp()


def variable_summaries(var):
    with tf.name_scope("summaries"):
        mean = tf.reduce_mean(var)
        tf.summary.scalar("mean", mean)
        tf.summary.scalar("stddev", tf.sqrt(tf.reduce_mean(tf.square(var - mean))))
        tf.summary.histogram("histogram", var)


rng = np.random.RandomState(120)
with tf.name_scope("input"):
    x = tf.placeholder(tf.float32, [None, 16], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    tf.summary.image("input", tf.reshape(x, [-1, 4, 4, 1]), 2)
with tf.name_scope("layer"):
    weights = tf.Variable(tf.truncated_normal([16, 1], stddev=0.1, seed=121), name="weights")
    variable_summaries(weights)
    output = tf.matmul(x, weights)
with tf.name_scope("loss"):
    loss = tf.losses.mean_squared_error(y, output)
tf.summary.scalar("loss", loss)
train = tf.train.GradientDescentOptimizer(0.02).minimize(loss)
merged = tf.summary.merge_all()

with tf.Session() as sess:
    train_writer = tf.summary.FileWriter(os.path.join(folder, "train"), sess.graph)
    test_writer = tf.summary.FileWriter(os.path.join(folder, "test"))
    sess.run(tf.global_variables_initializer())
    for step in range(1, args.steps + 1):
        points = rng.randn(32, 16).astype(np.float32)
        feed = {x: points, y: points.sum(axis=1, keepdims=True)}
        if step % 3 == 0:
            test_writer.add_summary(sess.run(merged, feed), step)
        summary, value, _ = sess.run([merged, loss, train], feed)
        train_writer.add_summary(summary, step)
        own = tf.Summary(value=[tf.Summary.Value(tag="own", simple_value=step)])
        train_writer.add_summary(own, global_step=step)
    train_writer.close()
    test_writer.close()

(path,) = glob.glob(os.path.join(folder, "train", "events*"))
losses, tags, graphs = [], set(), 0
for event in tf.train.summary_iterator(path):
    graphs += bool(event.graph_def)
    for value in event.summary.value:
        tags.add(value.tag)
        if value.tag == "loss_1" or value.tag == "loss":
            losses.append(value.simple_value)
for step, value in enumerate(losses, 1):
    print("loss[%d] %.9g" % (step, value))
print("tags %d" % len(tags))
print("graphs %d" % graphs)
