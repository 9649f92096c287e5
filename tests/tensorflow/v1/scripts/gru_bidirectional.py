# SPDX-License-Identifier: Apache-2.0
"""Sentences sorted into two classes by GRU cells that read them from both ends."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


class TextRnn:
    def __init__(self, words, classes, units, time):
        self.input_x = tf.placeholder(tf.int32, [None, time], name="input_x")
        self.input_y = tf.placeholder(tf.int32, [None], name="input_y")
        self.keep_prob = tf.placeholder(tf.float32, name="keep_prob")
        lengths = tf.reduce_sum(tf.sign(self.input_x), axis=1)
        with tf.name_scope("embedding"), tf.device("/cpu:0"):
            table = tf.Variable(tf.random_uniform([words, units], -0.5, 0.5, seed=1), name="table")
            embedded = tf.nn.embedding_lookup(table, self.input_x)
        forward = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(units), output_keep_prob=self.keep_prob, seed=4)
        backward = tf.nn.rnn_cell.GRUCell(units)
        (first, second), _ = tf.nn.bidirectional_dynamic_rnn(
            forward, backward, embedded, sequence_length=lengths, dtype=tf.float32
        )
        features = tf.reduce_max(tf.concat([first, second], axis=2), axis=1)
        logits = tf.layers.dense(features, classes, name="score")
        self.loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.input_y, logits=logits))
        self.accuracy = tf.reduce_mean(
            tf.cast(tf.equal(tf.argmax(logits, 1, output_type=tf.int32), self.input_y), tf.float32)
        )


def sentences(count, time, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 2, count)
    words = rng.randint(1, 20, (count, time)) + 20 * labels[:, None] * (rng.rand(count, time) < 0.4)
    for row, length in zip(words, rng.randint(time // 2, time + 1, count)):
        row[length:] = 0
    return words, labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    args = parser.parse_args()
    tf.set_random_seed(5)
    model = TextRnn(words=40, classes=2, units=16, time=10)
    train = tf.train.AdamOptimizer(0.01).minimize(model.loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(1, args.steps + 1):
            words, labels = sentences(24, 10, step)
            feed = {model.input_x: words, model.input_y: labels, model.keep_prob: 0.8}
            print("loss[%d] %.9g" % (step, sess.run([model.loss, train], feed)[0]))
        words, labels = sentences(64, 10, 0)
        feed = {model.input_x: words, model.input_y: labels, model.keep_prob: 1.0}
        loss, accuracy = sess.run([model.loss, model.accuracy], feed)
        print("test_loss %.9g" % loss)
        print("accuracy %.9g" % accuracy)


if __name__ == "__main__":
    main()
