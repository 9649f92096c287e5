# SPDX-License-Identifier: Apache-2.0
"""ResNet-18 in the style of slim: scopes of arguments, batch normalization updated by UPDATE_OPS, weight decay collected
as regularization losses."""

import argparse
import contextlib

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
DEFAULTS = {}


@contextlib.contextmanager
def arg_scope(functions, **arguments):
    """Inside, `functions` take `arguments` where they are given none."""
    before = dict(DEFAULTS)
    for function in functions:
        DEFAULTS[function] = {**DEFAULTS.get(function, {}), **arguments}
    try:
        yield
    finally:
        DEFAULTS.clear()
        DEFAULTS.update(before)


def conv2d(inputs, depth, size, stride=1, activation=True, scope=None, **given):
    options = {**DEFAULTS.get("conv2d", {}), **given}
    with tf.variable_scope(scope or "conv"):
        net = tf.layers.conv2d(
            inputs,
            depth,
            size,
            strides=stride,
            padding="SAME",
            use_bias=False,
            kernel_initializer=tf.variance_scaling_initializer(2.0, "fan_out", "truncated_normal", seed=depth + size),
            kernel_regularizer=options["regularizer"],
        )
        net = batch_norm(net)
        return tf.nn.relu(net) if activation else net


def batch_norm(inputs):
    options = DEFAULTS.get("batch_norm", {})
    return tf.layers.batch_normalization(inputs, momentum=options["decay"], training=options["is_training"], fused=True)


def block(inputs, depth, stride, scope):
    with tf.variable_scope(scope):
        shortcut = inputs
        if stride != 1 or inputs.shape[-1] != depth:
            shortcut = conv2d(inputs, depth, 1, stride, activation=False, scope="shortcut")
        residual = conv2d(inputs, depth, 3, stride, scope="conv1")
        residual = conv2d(residual, depth, 3, activation=False, scope="conv2")
        return tf.nn.relu(shortcut + residual)


def resnet_v1_18(inputs, num_classes, is_training, width):
    regularizer = tf.keras.regularizers.l2(5e-5)
    with arg_scope(["conv2d"], regularizer=regularizer), arg_scope(["batch_norm"], decay=0.9, is_training=is_training):
        net = conv2d(inputs, width, 3, scope="root")
        for group, blocks in enumerate((2, 2, 2, 2)):
            for unit in range(blocks):
                stride = 2 if group and unit == 0 else 1
                net = block(net, width << group, stride, "block%d/unit_%d" % (group + 1, unit + 1))
        net = tf.reduce_mean(net, [1, 2], name="pool5")
        return tf.layers.dense(net, num_classes, kernel_initializer=tf.random_normal_initializer(stddev=0.01, seed=1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--width", type=int, default=16)
    args = parser.parse_args()
    rng = np.random.RandomState(8)
    labels_of_run = rng.randint(0, 10, args.steps * args.batch)
    images_of_run = (
        rng.randn(len(labels_of_run), 16, 16, 3).astype(np.float32) + labels_of_run[:, None, None, None] / 5.0
    )

    images = tf.placeholder(tf.float32, [args.batch, 16, 16, 3])
    labels = tf.placeholder(tf.int32, [args.batch])
    is_training = tf.placeholder(tf.bool, [])
    logits = resnet_v1_18(images, 10, is_training, args.width)
    tf.losses.softmax_cross_entropy(tf.one_hot(labels, 10), logits)
    total_loss = tf.losses.get_total_loss(add_regularization_losses=True)
    global_step = tf.train.create_global_step()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.MomentumOptimizer(0.005, 0.9).minimize(total_loss, global_step)

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(args.steps):
            part = slice(i * args.batch, (i + 1) * args.batch)
            feed = {images: images_of_run[part], labels: labels_of_run[part], is_training: True}
            loss, _ = sess.run([total_loss, train_op], feed)
            print("loss[%d] %.9g" % (i + 1, loss))
        statistics = [v for v in tf.global_variables() if "root" in v.name and "moving" in v.name]
        means, variances = sess.run(statistics)
        print("moving_mean %.9g" % means.mean())
        print("moving_variance %.9g" % variances.mean())
        feed = {images: images_of_run[: args.batch], labels: labels_of_run[: args.batch], is_training: False}
        print("eval_loss %.9g" % sess.run(total_loss, feed))
        print("update_ops %d" % len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)))


if __name__ == "__main__":
    main()
