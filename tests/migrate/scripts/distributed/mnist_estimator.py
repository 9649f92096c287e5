# SPDX-License-Identifier: Apache-2.0
"""A convolutional net for MNIST, as an Estimator of TensorFlow 1."""
from __future__ import absolute_import, division, print_function

import argparse
import os

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.INFO)


def gelu(x):
    """Gaussian error linear unit."""
    return 0.5 * x * (1.0 + tf.tanh(0.79788456 * (x + 0.044715 * tf.pow(x, 3))))


def cnn_model_fn(features, labels, mode, params):
    with tf.device('/gpu:0'):
        images = tf.reshape(features['x'], [-1, 28, 28, 1])
        conv1 = tf.layers.conv2d(images, 32, [5, 5], padding='same', activation=tf.nn.relu)
        pool1 = tf.layers.max_pooling2d(conv1, [2, 2], 2)
        dense = gelu(tf.layers.dense(tf.layers.flatten(pool1), 1024))
        if mode == tf.estimator.ModeKeys.TRAIN:
            dense = tf.nn.dropout(dense, rate=0.4)
        logits = tf.layers.dense(dense, 10)
    predictions = {'classes': tf.argmax(logits, axis=1), 'probabilities': tf.nn.softmax(logits)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.AdamOptimizer(params['learning_rate'])
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op)
    metrics = {'accuracy': tf.metrics.accuracy(labels, predictions['classes'])}
    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, eval_metric_ops=metrics)


def input_fn(data_dir, name, batch_size, repeat):
    images = np.load(os.path.join(data_dir, name + '_images.npy'))
    labels = np.load(os.path.join(data_dir, name + '_labels.npy'))
    dataset = tf.data.Dataset.from_tensor_slices(({'x': images}, labels))
    if repeat:
        dataset = dataset.shuffle(10000).repeat()
    return dataset.batch(batch_size).prefetch(1)


def main(flags):
    session_config = tf.ConfigProto(allow_soft_placement=True)
    session_config.gpu_options.allow_growth = True
    config = tf.estimator.RunConfig(
        model_dir=flags.model_dir,
        save_summary_steps=100,
        save_checkpoints_steps=500,
        session_config=session_config)
    classifier = tf.estimator.Estimator(
        model_fn=cnn_model_fn,
        config=config,
        params={'learning_rate': flags.learning_rate})
    hook = tf.train.LoggingTensorHook({'step': 'global_step'}, every_n_iter=50)
    train_spec = tf.estimator.TrainSpec(
        input_fn=lambda: input_fn(flags.data_dir, 'train', flags.batch_size, True), max_steps=20000, hooks=[hook])
    eval_spec = tf.estimator.EvalSpec(input_fn=lambda: input_fn(flags.data_dir, 'test', flags.batch_size, False))
    tf.estimator.train_and_evaluate(classifier, train_spec, eval_spec)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--data_dir', default='/tmp/mnist')
    parser.add_argument('--model_dir', default='/tmp/mnist_model')
    parser.add_argument('--batch_size', type=int, default=100)
    parser.add_argument('--learning_rate', type=float, default=1e-3)
    main(parser.parse_args())
