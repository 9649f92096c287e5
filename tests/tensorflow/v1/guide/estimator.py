# SPDX-License-Identifier: Apache-2.0
"""An Estimator as the vendor's guide to TensorFlow 2.6 migrates it by hand (its section 6.9.2), in small."""

import npu_device
import numpy as np
import tensorflow as tf
from npu_device.compat.v1.npu_init import *

npu_device.compat.enable_v1()
tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.INFO)


def cnn_model_fn(features, labels, mode):
    net = tf.reshape(features["x"], [-1, 14, 14, 1])
    net = tf.compat.v1.layers.conv2d(net, 4, 5, padding="same", activation=tf.nn.relu)
    net = tf.compat.v1.layers.max_pooling2d(net, 2, 2)
    net = npu_unary_ops.gelu(tf.compat.v1.layers.dense(tf.compat.v1.layers.flatten(net), 32))
    net = tf.compat.v1.layers.dropout(net, 0.2, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.compat.v1.layers.dense(net, 4)
    predictions = {"classes": tf.argmax(logits, axis=1), "probabilities": tf.nn.softmax(logits, name="softmax_tensor")}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.compat.v1.train.AdamOptimizer(0.01)
        train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    accuracy = tf.compat.v1.metrics.accuracy(labels, predictions["classes"])
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})


def pictures(count, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 4, count)
    images = 0.3 * rng.randn(count, 14, 14)
    for image, label in zip(images, labels):
        image[7 * (label // 2) :, 7 * (label % 2) :][:7, :7] += 1
    return {"x": images.reshape(count, 196).astype("float32")}, labels.astype("int32")


def train_input_fn():
    dataset = tf.data.Dataset.from_tensor_slices(pictures(200, 1)).shuffle(200).repeat()
    return dataset.batch(32, drop_remainder=True)


def eval_input_fn():
    return tf.data.Dataset.from_tensor_slices(pictures(64, 2)).batch(32, drop_remainder=True)


sess_config = tf.compat.v1.ConfigProto(allow_soft_placement=True, log_device_placement=False)
custom_op = sess_config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
sess_config.graph_options.rewrite_options.remapping = rewriter_config_pb2.RewriterConfig.OFF

npu_config = NPURunConfig(session_config=sess_config, model_dir="model", save_checkpoints_steps=10)
mnist_classifier = NPUEstimator(model_fn=cnn_model_fn, config=npu_config, model_dir="model")
logging_hook = tf.compat.v1.train.LoggingTensorHook(tensors={"probabilities": "softmax_tensor"}, every_n_iter=10)
mnist_classifier.train(input_fn=train_input_fn, steps=40, hooks=[logging_hook])
print("accuracy", mnist_classifier.evaluate(input_fn=eval_input_fn)["accuracy"])
print("predicted", len(list(mnist_classifier.predict(input_fn=eval_input_fn))))
