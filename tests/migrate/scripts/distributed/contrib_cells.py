# SPDX-License-Identifier: Apache-2.0
# Cells, data sets and private names as scripts of TensorFlow 1 took them.
import tensorflow as tf
from tensorflow.contrib import rnn
from tensorflow.contrib.rnn import GRUCell, LSTMStateTuple  # cells
from tensorflow.python.framework import graph_util, ops


def cells(units, keep):
    stacked = [rnn.DropoutWrapper(tf.contrib.rnn.BasicLSTMCell(units), output_keep_prob=keep) for _ in range(2)]
    return rnn.MultiRNNCell(stacked), GRUCell(units), LSTMStateTuple


def data(files, batch):
    lines = tf.data.TextLineDataset(files).apply(tf.contrib.data.shuffle_and_repeat(100))
    return lines.batch(batch)


def freeze(session, names):
    step = tf.contrib.framework.get_or_create_global_step()
    graph = graph_util.convert_variables_to_constants(session, session.graph_def, names)
    return graph, isinstance(step, ops.Tensor), tf.contrib.framework.nest.flatten([step])


if __name__ == '__main__':
    outputs, state = tf.nn.dynamic_rnn(cells(8, 0.9)[0], tf.ones([2, 3, 4]), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        print(session.run(outputs).shape, data(['a.txt'], 2), freeze(session, []))
