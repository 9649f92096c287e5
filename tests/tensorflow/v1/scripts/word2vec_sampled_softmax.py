# SPDX-License-Identifier: Apache-2.0
"""Skip-gram with sampled softmax; the words nearest to some are told by their cosine."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=10)
args = parser.parse_args()
tf.set_random_seed(21)

VOCABULARY, SIZE, BATCH, SAMPLED, WINDOW = 200, 32, 64, 20, 2
rng = np.random.RandomState(10)
corpus = (np.cumsum(rng.geometric(0.3, 4000)) * 7) % VOCABULARY
valid_examples = np.array([3, 50, 120, 7], np.int32)


def skip_grams():
    at = WINDOW
    while True:
        centres, contexts = [], []
        while len(centres) < BATCH:
            for offset in (-2, -1, 1, 2):
                centres.append(corpus[at])
                contexts.append(corpus[at + offset])
            at = at + 1 if at + 1 < len(corpus) - WINDOW else WINDOW
        yield np.array(centres, np.int32), np.array(contexts, np.int64)[:, None]


train_inputs = tf.placeholder(tf.int32, shape=[BATCH])
train_labels = tf.placeholder(tf.int64, shape=[BATCH, 1])
valid_dataset = tf.constant(valid_examples)
embeddings = tf.Variable(tf.random_uniform([VOCABULARY, SIZE], -1.0, 1.0))
softmax_weights = tf.Variable(tf.truncated_normal([VOCABULARY, SIZE], stddev=1.0 / SIZE**0.5))
softmax_biases = tf.Variable(tf.zeros([VOCABULARY]))
embed = tf.nn.embedding_lookup(embeddings, train_inputs)
loss = tf.reduce_mean(
    tf.nn.sampled_softmax_loss(
        weights=softmax_weights,
        biases=softmax_biases,
        labels=train_labels,
        inputs=embed,
        num_sampled=SAMPLED,
        num_classes=VOCABULARY,
        seed=77,
    )
)
optimizer = tf.train.AdagradOptimizer(0.5).minimize(loss)
norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
normalized = embeddings / norm
similarity = tf.matmul(tf.nn.embedding_lookup(normalized, valid_dataset), tf.transpose(normalized))
_, nearest = tf.nn.top_k(similarity, k=3)

with tf.Session() as session:
    tf.global_variables_initializer().run()
    for step, (inputs, labels) in zip(range(1, args.steps + 1), skip_grams()):
        _, value = session.run([optimizer, loss], {train_inputs: inputs, train_labels: labels})
        print("loss[%d] %.9g" % (step, value))
    print("similarity %.9g" % np.abs(similarity.eval()).sum())
    print("nearest_is_itself %d" % (nearest.eval()[:, 0] == valid_examples).sum())
