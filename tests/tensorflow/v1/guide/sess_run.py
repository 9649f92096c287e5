# SPDX-License-Identifier: Apache-2.0
"""sess.run as the vendor's guide to TensorFlow 2.6 migrates it by hand (its section 6.9.3), in small: data through an
iterator of from_structure, fed again to the training operation; the session is closed by the script."""

import npu_device
import numpy as np
import tensorflow as tf
from npu_device.compat.v1.npu_init import *

npu_device.compat.enable_v1()
Iterator = tf.compat.v1.data.Iterator

train_size, batch_size, num_epochs = 96, 16, 6
rng = np.random.RandomState(1)
labels = rng.randint(0, 3, train_size).astype("int32")
images = (0.3 * rng.randn(train_size, 12) + np.repeat(np.eye(3), 4, 1)[labels]).astype("float32")
train_dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(batch_size, drop_remainder=True)

iterator = Iterator.from_structure(
    tf.compat.v1.data.get_output_types(train_dataset), tf.compat.v1.data.get_output_shapes(train_dataset)
)
next_batch = iterator.get_next()
training_init_op = iterator.make_initializer(train_dataset)

x = tf.compat.v1.placeholder(tf.float32, [None, 12])
y_ = tf.compat.v1.placeholder(tf.int32, [None])
is_training = tf.compat.v1.placeholder(tf.bool)
layers = npu_unary_ops.gelu(tf.compat.v1.layers.dense(x, 32))
layers = tf.compat.v1.layers.batch_normalization(layers, training=is_training)
loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(y_, tf.compat.v1.layers.dense(layers, 3))
with tf.control_dependencies(tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)):
    train_op = tf.compat.v1.train.AdamOptimizer(0.01).minimize(loss)

init = tf.compat.v1.global_variables_initializer()
config = tf.compat.v1.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
sess = tf.compat.v1.Session(config=config)
sess.run(init)
train_batches_per_epoch = int(np.floor(train_size / batch_size))
for epoch in range(num_epochs):
    sess.run(training_init_op)
    for step in range(train_batches_per_epoch):
        img_batch, label_batch = sess.run(next_batch)
        _, _train_loss = sess.run([train_op, loss], feed_dict={x: img_batch, y_: label_batch, is_training: True})
    print("loss", _train_loss)
sess.close()
