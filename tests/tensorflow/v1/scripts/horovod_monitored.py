# SPDX-License-Identifier: Apache-2.0
"""MonitoredTrainingSession over Horovod, in the style of its examples: to be migrated with -c -d horovod."""

import argparse

import horovod.tensorflow as hvd
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=8)


def conv_model(feature, target):
    feature = tf.reshape(feature, [-1, 14, 14, 1])
    with tf.variable_scope("conv_layer1"):
        h_conv1 = tf.layers.conv2d(feature, 8, [5, 5], activation=tf.nn.relu, padding="SAME")
        h_pool1 = tf.nn.max_pool(h_conv1, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    h_flat = tf.layers.flatten(h_pool1)
    logits = tf.layers.dense(tf.layers.dense(h_flat, 32, tf.nn.relu), 10)
    return tf.losses.softmax_cross_entropy(tf.one_hot(target, 10), logits)


def batches(size):
    rng = np.random.RandomState(200 + hvd.rank())
    while True:
        labels = rng.randint(0, 10, size)
        yield rng.randn(size, 196).astype(np.float32) + labels[:, None] / 5.0, labels


def main():
    args = parser.parse_args()
    hvd.init()
    tf.set_random_seed(201)
    image = tf.placeholder(tf.float32, [None, 196], name="image")
    label = tf.placeholder(tf.int32, [None], name="label")
    loss = conv_model(image, label)
    opt = tf.train.RMSPropOptimizer(0.001 * hvd.size())
    opt = hvd.DistributedOptimizer(opt)
    global_step = tf.train.get_or_create_global_step()
    train_op = opt.minimize(loss, global_step=global_step)
    hooks = [
        hvd.BroadcastGlobalVariablesHook(0),
        tf.train.StopAtStepHook(last_step=args.steps // hvd.size()),
    ]
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    config.gpu_options.visible_device_list = str(hvd.local_rank())
    feed = batches(16)
    with tf.train.MonitoredTrainingSession(hooks=hooks, config=config) as mon_sess:
        step = 0
        while not mon_sess.should_stop():
            image_, label_ = next(feed)
            _, value = mon_sess.run([train_op, loss], feed_dict={image: image_, label: label_})
            step += 1
            if hvd.rank() == 0:
                print("loss[%d] %.9g" % (step, value))
    print("workers %d" % hvd.size())


if __name__ == "__main__":
    main()
