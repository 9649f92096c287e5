# SPDX-License-Identifier: Apache-2.0
"""tf.metrics over the batches of an evaluation, reset between two of them, beside a model that is trained meanwhile."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def points(count, seed):
    rng = np.random.RandomState(seed)
    x = rng.randn(count, 8).astype(np.float32)
    return x, (x[:, 0] + 0.5 * x[:, 1] > 0.2 * rng.randn(count)).astype(np.int64)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    steps = parser.parse_args().steps
    tf.set_random_seed(150)
    x, y = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.int64, [None])
    logits = tf.layers.dense(tf.layers.dense(x, 10, tf.nn.selu), 2)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    train = tf.train.AdadeltaOptimizer(1.0, epsilon=1e-6).minimize(loss)
    chance, chosen = tf.nn.softmax(logits)[:, 1], tf.argmax(logits, 1)
    with tf.variable_scope("metrics"):
        metrics = {
            "accuracy": tf.metrics.accuracy(y, chosen),
            "precision": tf.metrics.precision(y, chosen),
            "recall": tf.metrics.recall(y, chosen),
            "auc": tf.metrics.auc(y, chance, num_thresholds=50),
            "mean_loss": tf.metrics.mean(loss),
            "mean_iou": tf.metrics.mean_iou(y, chosen, 2),
            "per_class": tf.metrics.mean_per_class_accuracy(y, chosen, 2),
        }
    values = {name: value for name, (value, _) in metrics.items()}
    updates = [update for _, update in metrics.values()]
    reset = tf.variables_initializer(tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES, scope="metrics"))
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        data = points(16 * steps, 151)
        for epoch in range(2):
            for step in range(steps):
                part = slice(16 * step, 16 * step + 16)
                value, _ = sess.run([loss, train], {x: data[0][part], y: data[1][part]})
                print("loss[%d] %.9g" % (epoch * steps + step + 1, value))
            sess.run(reset)
            for batch in range(4):
                held = points(20, 160 + batch)
                sess.run(updates, {x: held[0], y: held[1]})
            for name, value in sorted(sess.run(values).items()):
                print("%s_%d %.9g" % (name, epoch, value))


if __name__ == "__main__":
    main()
