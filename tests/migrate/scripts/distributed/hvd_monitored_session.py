# SPDX-License-Identifier: Apache-2.0
# MNIST with a session of one's own, in the style of Horovod's example for TensorFlow 1.
import os

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

learn = tf.layers
tf.logging.set_verbosity(tf.logging.INFO)


def conv_model(feature, target, mode):
    """Two layers of convolution."""
    feature = tf.reshape(feature, [-1, 28, 28, 1])
    with tf.variable_scope('conv_layer1'):
        h_conv1 = learn.conv2d(feature, 32, [5, 5], activation=tf.nn.relu, padding="SAME")
        h_pool1 = tf.nn.max_pool(h_conv1, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')
    h_flat = learn.flatten(h_pool1)
    h_fc1 = learn.dense(h_flat, 1024, activation=tf.nn.relu)
    if mode == tf.estimator.ModeKeys.TRAIN:
        h_fc1 = tf.nn.dropout(h_fc1, keep_prob=0.5)
    logits = learn.dense(h_fc1, 10)
    loss = tf.losses.softmax_cross_entropy(tf.one_hot(tf.cast(target, tf.int32), 10), logits)
    return tf.argmax(logits, 1), loss


def train_input_generator(x_train, y_train, batch_size=64):
    assert len(x_train) == len(y_train)
    while True:
        p = np.random.permutation(len(x_train))
        x_train, y_train = x_train[p], y_train[p]
        index = 0
        while index <= len(x_train) - batch_size:
            yield x_train[index:index + batch_size], y_train[index:index + batch_size],
            index += batch_size


def main(_):
    # Horovod: initialize Horovod.
    hvd.init()

    data = np.load('MNIST-data-%d.npz' % hvd.rank())
    with tf.name_scope('input'):
        image = tf.placeholder(tf.float32, [None, 784], name='image')
        label = tf.placeholder(tf.float32, [None], name='label')
    predict, loss = conv_model(image, label, tf.estimator.ModeKeys.TRAIN)

    # Horovod: adjust learning rate based on number of GPUs.
    opt = tf.train.AdamOptimizer(0.001 * hvd.size())

    # Horovod: add Horovod Distributed Optimizer.
    opt = hvd.DistributedOptimizer(opt)

    global_step = tf.train.get_or_create_global_step()
    train_op = opt.minimize(loss, global_step=global_step)

    hooks = [
        # Horovod: BroadcastGlobalVariablesHook broadcasts initial variable states
        # from rank 0 to all other processes.
        hvd.BroadcastGlobalVariablesHook(0),

        # Horovod: adjust number of steps based on number of GPUs.
        tf.train.StopAtStepHook(last_step=20000 // hvd.size()),

        tf.train.LoggingTensorHook(tensors={'step': global_step, 'loss': loss}, every_n_iter=10),
    ]

    # Horovod: pin GPU to be used to process local rank (one GPU per process)
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    config.gpu_options.visible_device_list = str(hvd.local_rank())

    # Horovod: save checkpoints only on worker 0 to prevent other workers from corrupting them.
    checkpoint_dir = './checkpoints' if hvd.rank() == 0 else None
    batches = train_input_generator(data['x'], data['y'], batch_size=100)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=checkpoint_dir, hooks=hooks, config=config) as mon_sess:
        while not mon_sess.should_stop():
            image_, label_ = next(batches)
            mon_sess.run(train_op, feed_dict={image: image_, label: label_})


if __name__ == "__main__":
    tf.app.run()
