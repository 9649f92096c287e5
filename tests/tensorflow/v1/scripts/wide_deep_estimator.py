# SPDX-License-Identifier: Apache-2.0
"""Wide and deep learning on a table of synthetic people: crossed, bucketized, hashed and embedded columns under the
canned estimator, then the deep half by hand with embedding_lookup_sparse."""

import argparse
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)
JOBS = ["clerk", "farmer", "nurse", "teacher", "driver"]


def people(count, seed):
    rng = np.random.RandomState(seed)
    age, hours, job = rng.randint(18, 80, count), rng.randint(10, 60, count), rng.randint(0, len(JOBS), count)
    town = rng.randint(0, 1000, count)
    earns = (age / 80 + hours / 60 + job / 10 + 0.1 * rng.randn(count) > 1.3).astype(np.int32)
    table = {
        "age": age.astype(np.float32),
        "hours": hours.astype(np.float32),
        "job": np.array(JOBS)[job],
        "town": np.array(["town%d" % each for each in town]),
    }
    return table, earns


def columns():
    column = tf.feature_column
    age, hours = column.numeric_column("age"), column.numeric_column("hours")
    job = column.categorical_column_with_vocabulary_list("job", JOBS)
    town = column.categorical_column_with_hash_bucket("town", 50)
    buckets = column.bucketized_column(age, boundaries=[25, 35, 45, 55, 65])
    wide = [job, town, buckets, column.crossed_column([buckets, "job"], hash_bucket_size=64)]
    start = tf.random_uniform_initializer(-0.3, 0.3, seed=3)
    deep = [
        column.numeric_column("hours", normalizer_fn=lambda x: (x - 35.0) / 15.0),
        column.indicator_column(job),
        column.embedding_column(town, dimension=4, initializer=start),
    ]
    return wide, deep, [age, hours]


def canned(steps):
    wide, deep, _ = columns()
    losses = []

    class Tell(tf.train.SessionRunHook):
        def before_run(self, run_context):
            loss = tf.get_collection(tf.GraphKeys.LOSSES)
            return tf.train.SessionRunArgs(loss[0] if loss else tf.train.get_global_step())

        def after_run(self, run_context, run_values):
            losses.append(run_values.results)

    config = tf.estimator.RunConfig(tf_random_seed=4, model_dir=tempfile.mkdtemp(), save_summary_steps=None)
    model = tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=wide,
        linear_optimizer=tf.train.FtrlOptimizer(0.05),
        dnn_feature_columns=deep,
        dnn_optimizer=tf.train.AdagradOptimizer(0.05),
        dnn_hidden_units=[16, 8],
        config=config,
    )
    train = tf.estimator.inputs.numpy_input_fn(*people(32 * steps, 1), batch_size=32, shuffle=False, num_epochs=1)
    test = tf.estimator.inputs.numpy_input_fn(*people(128, 2), batch_size=64, shuffle=False)
    model.train(train, steps=steps, hooks=[Tell()])
    measured = model.evaluate(test)
    print("trained_steps %d" % measured["global_step"])
    for name in ("average_loss", "accuracy", "auc"):
        print("%s %.9g" % (name, measured[name]))
    chances = [each["probabilities"][1] for each in model.predict(test)]
    print("chances %.9g" % np.sum(chances))
    print("runs_seen %d" % len(losses))


def by_hand(steps):
    """Bags of words of several lengths, with weights."""
    rng = np.random.RandomState(5)
    ids, weights = tf.sparse_placeholder(tf.int64), tf.sparse_placeholder(tf.float32)
    target = tf.placeholder(tf.float32, [None])
    table = tf.get_variable("table", [40, 6], initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=6))
    parts = [tf.nn.embedding_lookup_sparse(table, ids, weights, combiner=how) for how in ("mean", "sqrtn", "sum")]
    hidden = tf.layers.dense(tf.concat(parts, 1), 8, tf.nn.relu, kernel_initializer=tf.ones_initializer())
    logits = tf.squeeze(tf.layers.dense(hidden, 1, kernel_initializer=tf.zeros_initializer()), 1)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=logits))
    train = tf.train.AdagradOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(1, steps + 1):
            lengths = rng.randint(1, 5, 16)
            places = np.array([(row, i) for row, length in enumerate(lengths) for i in range(length)], np.int64)
            words = rng.randint(0, 40, len(places))
            shape = (16, 4)
            feed = {
                ids: (places, words, shape),
                weights: (places, rng.rand(len(places)).astype(np.float32) + 0.5, shape),
                target: (np.bincount(places[:, 0], words < 20) > lengths / 2).astype(np.float32),
            }
            print("loss[%d] %.9g" % (step, sess.run([loss, train], feed)[0]))
        print("table %.9g" % np.abs(sess.run(table)).sum())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    count = parser.parse_args().steps
    canned(count)
    by_hand(count)
