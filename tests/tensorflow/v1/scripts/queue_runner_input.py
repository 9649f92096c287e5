# SPDX-License-Identifier: Apache-2.0
"""Input by queues: records written to files, read by a string input producer and readers, batched by tf.train.batch and
shuffled elsewhere, started and stopped by a Coordinator; and a FIFOQueue filled by threads of its own."""

import argparse
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def write_records(folder, count):
    rng = np.random.RandomState(50)
    path = os.path.join(folder, "train.tfrecords")
    with tf.python_io.TFRecordWriter(path) as writer:
        for _ in range(count):
            x = rng.randn(5).astype(np.float32)
            feature = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=x)),
                "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(x.sum() > 0)])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    return path


def read_and_decode(path, batch):
    names = tf.train.string_input_producer([path], num_epochs=1, shuffle=False)
    _, serialized = tf.TFRecordReader().read(names)
    features = tf.parse_single_example(
        serialized, {"x": tf.FixedLenFeature([5], tf.float32), "y": tf.FixedLenFeature([], tf.int64)}
    )
    return tf.train.batch([features["x"], features["y"]], batch_size=batch, num_threads=1, capacity=4 * batch)


def from_files(path, batch):
    x, y = read_and_decode(path, batch)
    logits = tf.layers.dense(x, 2, kernel_initializer=tf.zeros_initializer())
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    step = 0
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        try:
            while not coord.should_stop():
                _, value = sess.run([train, loss])
                step += 1
                print("loss[%d] %.9g" % (step, value))
        except tf.errors.OutOfRangeError:
            print("batches %d" % step)
        finally:
            coord.request_stop()
            coord.join(threads)


def from_a_queue(steps):
    """Examples that several operations put in; each step takes what is there."""
    queue = tf.FIFOQueue(100, [tf.float32, tf.float32], shapes=[[3], []])
    examples = tf.placeholder(tf.float32, [None, 3])
    enqueue = queue.enqueue_many([examples, tf.reduce_sum(examples, axis=1)])
    x, y = queue.dequeue_many(8)
    weight = tf.get_variable("weight", [3, 1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(x, weight), 1) - y))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    rng = np.random.RandomState(51)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(1, steps + 1):
            sess.run(enqueue, {examples: rng.randn(8, 3)})
            print("queue_loss[%d] %.9g" % (step, sess.run([loss, train])[0]))
        print("left_in_queue %d" % sess.run(queue.size()))
        sess.run(queue.close())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    count = parser.parse_args().steps
    with tempfile.TemporaryDirectory() as folder:
        from_files(write_records(folder, 16 * count), 16)
    tf.reset_default_graph()
    from_a_queue(count)
