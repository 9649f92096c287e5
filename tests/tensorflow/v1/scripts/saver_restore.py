# SPDX-License-Identifier: Apache-2.0
"""Saver: variables saved while training, a part of them restored under other names in another graph, the whole graph
imported from its meta file, and a frozen graph of constants."""

import argparse
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=6)
args = parser.parse_args()
rng = np.random.RandomState(80)
inputs = rng.randn(20, 5).astype(np.float32)
wanted = np.tanh(inputs @ rng.randn(5, 2)).astype(np.float32)
folder = tempfile.mkdtemp()
prefix = os.path.join(folder, "model")

with tf.Graph().as_default(), tf.Session() as sess:
    x = tf.placeholder(tf.float32, [None, 5], name="x")
    y = tf.placeholder(tf.float32, [None, 2], name="y")
    weight = tf.get_variable("layer/weight", [5, 2], initializer=tf.glorot_normal_initializer(seed=81))
    bias = tf.get_variable("layer/bias", [2], initializer=tf.zeros_initializer())
    output = tf.tanh(tf.matmul(x, weight) + bias, name="output")
    loss = tf.reduce_mean(tf.squared_difference(output, y), name="loss")
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, name="train")
    saver = tf.train.Saver(max_to_keep=3)
    sess.run(tf.global_variables_initializer())
    for step in range(1, args.steps + 1):
        _, value = sess.run([train, loss], {x: inputs, y: wanted})
        print("loss[%d] %.9g" % (step, value))
        saver.save(sess, prefix, global_step=step, write_meta_graph=step == args.steps)
    trained = sess.run(output, {x: inputs})
    frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["output"])
    print("kept %d" % len(saver.last_checkpoints))

latest = tf.train.latest_checkpoint(folder)
print("latest_step %d" % int(latest.rsplit("-", 1)[1]))
with tf.Graph().as_default(), tf.Session() as sess:
    other = tf.get_variable("other_weight", [5, 2])
    tf.train.Saver({"layer/weight": other}).restore(sess, latest)
    print("weight %.9g" % np.abs(sess.run(other)).sum())

with tf.Graph().as_default(), tf.Session() as sess:
    tf.train.import_meta_graph(latest + ".meta").restore(sess, latest)
    again = sess.run("output:0", {"x:0": inputs})
    print("restored_equals %d" % np.array_equal(again, trained))
    for step in range(args.steps + 1, 2 * args.steps + 1):
        _, value = sess.run(["train", "loss:0"], {"x:0": inputs, "y:0": wanted})
        print("loss[%d] %.9g" % (step, value))

with tf.Graph().as_default(), tf.Session() as sess:
    (constant_output,) = tf.import_graph_def(frozen, return_elements=["output:0"], name="frozen")
    of_constants = sess.run(constant_output, {"frozen/x:0": inputs})
    print("frozen_difference %.9g" % np.abs(of_constants - trained).max())
    print("frozen_output %.9g" % np.abs(of_constants).sum())
