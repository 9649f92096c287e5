# SPDX-License-Identifier: Apache-2.0
"""One model fed by each kind of iterator: initialisable, made of a structure, and feedable by its handle."""

import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=6)
args = parser.parse_args()
tf.set_random_seed(60)
rng = np.random.RandomState(61)
features = rng.randn(16 * args.steps, 6).astype(np.float32)
labels = (features @ rng.randn(6, 1)).astype(np.float32)


def model(x, y):
    with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
        hidden = tf.layers.dense(x, 12, tf.nn.relu, name="hidden")
        return tf.losses.mean_squared_error(y, tf.layers.dense(hidden, 1, name="out"))


# Arrays by placeholders, so that they are no constants of the graph.
x_in, y_in = tf.placeholder(features.dtype, features.shape), tf.placeholder(labels.dtype, labels.shape)
data = tf.data.Dataset.from_tensor_slices((x_in, y_in))
training = data.shuffle(64, seed=62).repeat().batch(16, drop_remainder=True).prefetch(2)
validation = data.map(lambda x, y: (x * 1.0, y), num_parallel_calls=2).batch(24)

initialisable = tf.data.make_initializable_iterator(training)
first_loss = model(*initialisable.get_next())
switched = tf.data.Iterator.from_structure(
    tf.data.get_output_types(training), (tf.TensorShape([None, 6]), tf.TensorShape([None, 1]))
)
to_training, to_validation = switched.make_initializer(training), switched.make_initializer(validation)
second_loss = model(*switched.get_next())
handle = tf.placeholder(tf.string, [])
fed = tf.data.Iterator.from_string_handle(
    handle, tf.data.get_output_types(training), (tf.TensorShape([None, 6]), tf.TensorShape([None, 1]))
)
third_loss = model(*fed.get_next())
other = tf.data.make_initializable_iterator(validation)
optimizer = tf.train.AdamOptimizer(0.01)
train_first, train_second, train_third = (optimizer.minimize(each) for each in (first_loss, second_loss, third_loss))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    arrays = {x_in: features, y_in: labels}
    sess.run([initialisable.initializer, other.initializer], arrays)
    for step in range(1, args.steps + 1):
        print("initialisable_loss[%d] %.9g" % (step, sess.run([first_loss, train_first])[0]))
    sess.run(to_training, arrays)
    for step in range(1, args.steps + 1):
        print("switched_loss[%d] %.9g" % (step, sess.run([second_loss, train_second])[0]))
    sess.run(to_validation, arrays)
    seen = []
    while True:
        try:
            seen.append(sess.run(second_loss))
        except tf.errors.OutOfRangeError:
            break
    print("validation_batches %d" % len(seen))
    print("validation_loss %.9g" % np.mean(seen))
    first_handle, other_handle = sess.run([initialisable.string_handle(), other.string_handle()])
    for step in range(1, args.steps + 1):
        _, loss = sess.run([train_third, third_loss], {handle: first_handle})
        print("fed_loss[%d] %.9g" % (step, loss))
    print("fed_validation_loss %.9g" % sess.run(third_loss, {handle: other_handle}))
