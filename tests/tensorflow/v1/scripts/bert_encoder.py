# SPDX-License-Identifier: Apache-2.0
"""A small encoder in the style of BERT for TensorFlow 1: attention and layer normalization of tf.layers, masked words
gathered and predicted, Adam with weight decay written over tf.train.Optimizer."""

import argparse
import re

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
WORDS, HIDDEN, HEADS, LAYERS, TIME, MASKED = 60, 32, 4, 2, 16, 3


def initializer():
    return tf.truncated_normal_initializer(stddev=0.05, seed=17)


def gelu(x):
    return x * 0.5 * (1.0 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3))))


def layer_norm(x, name):
    with tf.variable_scope(name):
        gamma = tf.get_variable("gamma", [HIDDEN], initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", [HIDDEN], initializer=tf.zeros_initializer())
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-6)


def attention(x, mask):
    def heads(name):
        made = tf.layers.dense(x, HIDDEN, name=name, kernel_initializer=initializer())
        return tf.transpose(tf.reshape(made, [-1, TIME, HEADS, HIDDEN // HEADS]), [0, 2, 1, 3])

    scores = tf.matmul(heads("query"), heads("key"), transpose_b=True) / np.sqrt(HIDDEN // HEADS)
    scores += (1.0 - tf.cast(mask[:, None, None, :], tf.float32)) * -10000.0
    context = tf.matmul(tf.nn.softmax(scores), heads("value"))
    return tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [-1, TIME, HIDDEN])


def encoder(ids, mask):
    with tf.variable_scope("bert"):
        table = tf.get_variable("word_embeddings", [WORDS, HIDDEN], initializer=initializer())
        positions = tf.get_variable("position_embeddings", [TIME, HIDDEN], initializer=initializer())
        x = layer_norm(tf.gather(table, ids) + positions, "norm")
        for layer in range(LAYERS):
            with tf.variable_scope("layer_%d" % layer):
                attended = tf.layers.dense(attention(x, mask), HIDDEN, kernel_initializer=initializer(), name="out")
                x = layer_norm(x + attended, "attention_norm")
                inner = tf.layers.dense(x, 4 * HIDDEN, gelu, kernel_initializer=initializer(), name="inner")
                outer = tf.layers.dense(inner, HIDDEN, kernel_initializer=initializer(), name="outer")
                x = layer_norm(x + outer, "output_norm")
        return x, table


def masked_loss(sequence, table, positions, labels, weights):
    batch = tf.shape(sequence)[0]
    flat = tf.reshape(positions + tf.range(batch)[:, None] * TIME, [-1])
    gathered = tf.gather(tf.reshape(sequence, [-1, HIDDEN]), flat)
    bias = tf.get_variable("output_bias", [WORDS], initializer=tf.zeros_initializer())
    log_probs = tf.nn.log_softmax(tf.nn.bias_add(tf.matmul(gathered, table, transpose_b=True), bias))
    per_word = -tf.reduce_sum(log_probs * tf.one_hot(tf.reshape(labels, [-1]), WORDS), axis=-1)
    weights = tf.reshape(weights, [-1])
    return tf.reduce_sum(weights * per_word) / (tf.reduce_sum(weights) + 1e-5)


class AdamWeightDecay(tf.train.Optimizer):
    def __init__(self, rate, decay):
        super().__init__(False, "AdamWeightDecay")
        self.rate, self.decay = rate, decay

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        updates = []
        for gradient, variable in grads_and_vars:
            name_of_it = re.sub(":0$", "", variable.name)
            m = tf.get_variable(name_of_it + "/m", variable.shape, trainable=False, initializer=tf.zeros_initializer())
            v = tf.get_variable(name_of_it + "/v", variable.shape, trainable=False, initializer=tf.zeros_initializer())
            next_m = 0.9 * m + 0.1 * gradient
            next_v = 0.999 * v + 0.001 * tf.square(gradient)
            update = next_m / (tf.sqrt(next_v) + 1e-6)
            if not re.search("norm|bias", name_of_it):
                update += self.decay * variable
            updates += [variable.assign(variable - self.rate * update), m.assign(next_m), v.assign(next_v)]
        with tf.control_dependencies(updates):  # the rate of this step reads it
            return tf.group(global_step.assign(global_step + 1), name=name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    args = parser.parse_args()
    ids = tf.placeholder(tf.int32, [None, TIME])
    mask = tf.placeholder(tf.int32, [None, TIME])
    positions = tf.placeholder(tf.int32, [None, MASKED])
    labels = tf.placeholder(tf.int32, [None, MASKED])
    weights = tf.placeholder(tf.float32, [None, MASKED])
    sequence, table = encoder(ids, mask)
    loss = masked_loss(sequence, table, positions, labels, weights)
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.polynomial_decay(2e-3, global_step, 100, end_learning_rate=0.0)
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), clip_norm=1.0)
    train = AdamWeightDecay(rate, 0.01).apply_gradients(zip(gradients, variables), global_step=global_step)

    rng = np.random.RandomState(19)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(1, args.steps + 1):
            words = (rng.randint(5, WORDS, (8, 1)) + np.arange(TIME)) % WORDS
            hidden = np.stack([rng.choice(TIME - 2, MASKED, replace=False) for _ in range(8)])
            answers = np.take_along_axis(words, hidden, axis=1)
            shown = words.copy()
            np.put_along_axis(shown, hidden, 1, axis=1)
            feed = {
                ids: shown,
                mask: np.arange(TIME) < rng.randint(TIME - 2, TIME + 1, (8, 1)),
                positions: hidden,
                labels: answers,
                weights: rng.rand(8, MASKED) < 0.9,
            }
            value, _ = sess.run([loss, train], feed)
            print("loss[%d] %.9g" % (step, value))
        print("global_step %d" % sess.run(global_step))
        print("table %.9g" % np.abs(sess.run(table)).sum())


if __name__ == "__main__":
    main()
