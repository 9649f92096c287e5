# SPDX-License-Identifier: Apache-2.0
"""Skip-gram with noise-contrastive estimation over pairs from tf.data, sparse updates by gradient descent."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def pairs(count):
    rng = np.random.RandomState(14)
    centres = rng.zipf(1.5, count) % 100
    contexts = (centres + rng.randint(1, 5, count)) % 100
    return centres.astype(np.int64), contexts.astype(np.int64)[:, None]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch", type=int, default=32)
    args = parser.parse_args()
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(1)
        data = tf.data.Dataset.from_tensor_slices(pairs(args.steps * args.batch)).batch(args.batch, drop_remainder=True)
        centre, context = tf.data.make_one_shot_iterator(data).get_next()
        with tf.name_scope("embeddings"):
            table = tf.get_variable("table", [100, 24], initializer=tf.random_uniform_initializer(-0.5, 0.5))
            embed = tf.nn.embedding_lookup(table, centre)
        with tf.name_scope("loss"):
            weights = tf.get_variable("nce_w", [100, 24], initializer=tf.truncated_normal_initializer(stddev=0.2))
            biases = tf.get_variable("nce_b", [100], initializer=tf.zeros_initializer())
            sampled = tf.random.log_uniform_candidate_sampler(context, 1, 8, True, 100, seed=5)
            nce = tf.nn.nce_loss(weights, biases, context, embed, 8, 100, sampled_values=sampled)
            loss = tf.reduce_mean(nce)
        train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
        init = tf.global_variables_initializer()
    with tf.Session(graph=graph) as session:
        session.run(init)
        step = 0
        while True:
            try:
                _, value = session.run([train, loss])
            except tf.errors.OutOfRangeError:
                break
            step += 1
            print("loss[%d] %.9g" % (step, value))
        print("steps %d" % step)
        print("table %.9g" % np.abs(session.run(table)).sum())


if __name__ == "__main__":
    main()
