# SPDX-License-Identifier: Apache-2.0
"""An Estimator under MirroredStrategy: to be migrated with -c -d tf_strategy."""

import argparse
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)


def model_fn(features, labels, mode):
    net = tf.layers.dense(features["x"], 16, tf.nn.relu)
    net = tf.layers.batch_normalization(net, training=mode == tf.estimator.ModeKeys.TRAIN, momentum=0.9)
    logits = tf.layers.dense(net, 3)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(count, seed):
    rng = np.random.RandomState(seed)
    x = rng.randn(count, 6).astype(np.float32)
    y = np.argmax(x[:, :3] + 0.2 * rng.randn(count, 3), axis=1).astype(np.int32)
    dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
    return dataset.batch(16, drop_remainder=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    steps = parser.parse_args().steps
    strategy = tf.distribute.MirroredStrategy()
    config = tf.estimator.RunConfig(
        model_dir=tempfile.mkdtemp(), tf_random_seed=210, train_distribute=strategy, save_checkpoints_steps=steps
    )
    classifier = tf.estimator.Estimator(model_fn, config=config)
    classifier.train(lambda: input_fn(16 * steps, 211), max_steps=steps)
    measured = classifier.evaluate(lambda: input_fn(64, 212))
    print("global_step %d" % measured["global_step"])
    print("loss %.9g" % measured["loss"])
    print("accuracy %.9g" % measured["accuracy"])


if __name__ == "__main__":
    main()
