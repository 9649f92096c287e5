# SPDX-License-Identifier: Apache-2.0
"""LeNet of tf.layers on small pictures, trained with momentum."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def lenet(images, training):
    net = tf.layers.conv2d(images, 6, 5, padding="same", activation=tf.nn.relu, name="conv1")
    net = tf.layers.max_pooling2d(net, 2, 2, name="pool1")
    net = tf.layers.conv2d(net, 16, 5, activation=tf.nn.relu, name="conv2")
    net = tf.layers.average_pooling2d(net, 2, 2, name="pool2")
    net = tf.layers.flatten(net)
    net = tf.layers.dense(net, 120, activation=tf.nn.relu, name="fc3")
    net = tf.layers.dropout(net, rate=0.2, training=training, seed=5)
    net = tf.layers.dense(net, 84, activation=tf.nn.tanh, name="fc4")
    return tf.layers.dense(net, 10, name="logits")


def pictures(count, seed):
    """A bright square whose place is the class, in noise."""
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 10, count)
    images = 0.3 * rng.randn(count, 28, 28, 1).astype(np.float32)
    for image, label in zip(images, labels):
        row, column = divmod(label, 5)
        image[4 + 10 * row : 12 + 10 * row, 5 * column : 5 * column + 7] += 1
    return images, labels.astype(np.int64)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch", type=int, default=32)
    args = parser.parse_args()
    tf.set_random_seed(3)
    images = tf.placeholder(tf.float32, [None, 28, 28, 1])
    labels = tf.placeholder(tf.int64, [None])
    training = tf.placeholder_with_default(False, [])
    logits = lenet(images, training)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.get_or_create_global_step()
    train = tf.train.MomentumOptimizer(0.02, 0.9, use_nesterov=True).minimize(loss, global_step=step)
    accuracy = tf.reduce_mean(tf.to_float(tf.nn.in_top_k(logits, labels, 1)))

    x, y = pictures(args.steps * args.batch, 0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(args.steps):
            part = slice(i * args.batch, (i + 1) * args.batch)
            feed = {images: x[part], labels: y[part], training: True}
            value, count, _ = sess.run([loss, step, train], feed)
            print("loss[%d] %.9g" % (i + 1, value))
        held_out = pictures(100, 1)
        print("global_step %d" % sess.run(step))
        print("test_loss %.9g" % sess.run(loss, {images: held_out[0], labels: held_out[1]}))
        print("accuracy %.9g" % sess.run(accuracy, {images: held_out[0], labels: held_out[1]}))
        print("parameters %d" % sum(np.prod(v.shape.as_list()) for v in tf.trainable_variables()))


if __name__ == "__main__":
    main()
