# SPDX-License-Identifier: Apache-2.0
"""A language model of stacked LSTM cells by dynamic_rnn, over sequences of several lengths, its state fed from step to
step."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=8)
args = parser.parse_args()
tf.set_random_seed(12)
BATCH, TIME, WORDS, UNITS = 8, 12, 30, 24

tokens = tf.placeholder(tf.int32, [BATCH, TIME])
targets = tf.placeholder(tf.int32, [BATCH, TIME])
lengths = tf.placeholder(tf.int32, [BATCH])
with tf.variable_scope("model", initializer=tf.random_uniform_initializer(-0.2, 0.2)):
    embedding = tf.get_variable("embedding", [WORDS, UNITS])
    inputs = tf.nn.embedding_lookup(embedding, tokens)
    cells = [tf.nn.rnn_cell.BasicLSTMCell(UNITS, forget_bias=1.0), tf.nn.rnn_cell.LSTMCell(UNITS, use_peepholes=True)]
    cell = tf.nn.rnn_cell.MultiRNNCell(cells)
    initial_state = cell.zero_state(BATCH, tf.float32)
    outputs, final_state = tf.nn.dynamic_rnn(cell, inputs, sequence_length=lengths, initial_state=initial_state)
    logits = tf.layers.dense(outputs, WORDS)

mask = tf.sequence_mask(lengths, TIME, dtype=tf.float32)
cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
loss = tf.reduce_sum(cross_entropy * mask) / tf.reduce_sum(mask)
variables = tf.trainable_variables()
gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
train = tf.train.GradientDescentOptimizer(0.5).apply_gradients(zip(gradients, variables))

rng = np.random.RandomState(6)
text = (np.cumsum(rng.randint(1, 4, BATCH * (TIME * args.steps + 1))) % WORDS).reshape(BATCH, -1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    state = sess.run(initial_state)
    for step in range(args.steps):
        begin = step * TIME
        feed = {
            tokens: text[:, begin : begin + TIME],
            targets: text[:, begin + 1 : begin + TIME + 1],
            lengths: rng.randint(TIME // 2, TIME + 1, BATCH),
        }
        for held, value in zip(initial_state, state):
            feed[held.c], feed[held.h] = value.c, value.h
        _, value, size, state = sess.run([train, loss, norm, final_state], feed)
        print("loss[%d] %.9g" % (step + 1, value))
    print("perplexity %.9g" % np.exp(value))
    print("norm %.9g" % size)
    print("state %.9g" % np.abs(state[1].h).sum())
