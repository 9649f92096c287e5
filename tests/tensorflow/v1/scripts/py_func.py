# SPDX-License-Identifier: Apache-2.0
"""Python within the graph: data augmented by tf.py_func, a loss with a gradient of one's own by gradient_override_map,
a table of strings beside it."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=6)
args = parser.parse_args()
rng = np.random.RandomState(140)
seen = []


def flip(batch, count):
    seen.append(int(count))
    return batch[:, ::-1].astype(np.float32) if count % 2 else batch


def huber(a, b):
    d = np.abs(a - b)
    return np.mean(np.where(d < 1, 0.5 * d * d, d - 0.5)).astype(np.float32)


def huber_with_gradient(a, b):
    name = "HuberGradient%d" % rng.randint(1 << 30)

    @tf.RegisterGradient(name)
    def _gradient(op, upstream):
        difference = op.inputs[0] - op.inputs[1]
        slope = tf.clip_by_value(difference, -1.0, 1.0) / tf.cast(tf.size(difference), tf.float32)
        return upstream * slope, -upstream * slope

    with tf.get_default_graph().gradient_override_map({"PyFunc": name}):
        (made,) = tf.py_func(huber, [a, b], [tf.float32])
    made.set_shape([])
    return made


x = tf.placeholder(tf.float32, [None, 6])
words = tf.placeholder(tf.string, [None])
count = tf.placeholder(tf.int64, [])
augmented = tf.py_func(flip, [x, count], tf.float32, stateful=False)
augmented.set_shape(x.shape)
table = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(tf.constant(["low", "middle", "high"]), tf.constant([-1.0, 0.0, 1.0])), 0.5
)
target = table.lookup(tf.strings.lower(words))[:, None]
weight = tf.get_variable("weight", [6, 1], initializer=tf.random_uniform_initializer(-1, 1, seed=141))
output = tf.matmul(augmented, weight)
loss = huber_with_gradient(output, target)
train = tf.train.GradientDescentOptimizer(0.2).minimize(loss)
joined = tf.strings.join([words, tf.as_string(tf.cast(target[:, 0], tf.int32))], separator=":")

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    for step in range(1, args.steps + 1):
        names = np.array(["low", "MIDDLE", "High", "other"])[rng.randint(0, 4, 12)]
        feed = {x: rng.randn(12, 6), words: names, count: step}
        value, _ = sess.run([loss, train], feed)
        print("loss[%d] %.9g" % (step, value))
    text = sess.run(joined, feed)
    print("calls %d" % len(seen))
    print("high_words %d" % sum(each.endswith(b":1") for each in text))
    print("weight %.9g" % np.abs(sess.run(weight)).sum())
