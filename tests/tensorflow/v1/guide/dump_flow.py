# SPDX-License-Identifier: Apache-2.0
"""The vendor's guide to dumps of TensorFlow 1, in small: python dump_flow.py MODE HOW, where MODE is estimator, sess_run
or keras, and HOW is migrated (init_resource with the configuration, which the tool's wrappers get too) or by_hand."""

import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
from npu_bridge.npu_init import *

MODE, HOW = sys.argv[1:]
tf.logging.set_verbosity(tf.logging.INFO)


def dump_options(session_config):
    custom_op = session_config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["enable_dump"].b = True
    custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes("files")
    custom_op.parameter_map["dump_step"].s = tf.compat.as_bytes("0|5|10")
    custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes("all")
    custom_op.parameter_map["dump_layer"].s = tf.compat.as_bytes("hidden/MatMul out/MatMul")
    return custom_op


def data():
    x = np.linspace(-1, 1, 96).reshape(24, 4).astype("f")
    return tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).repeat().batch(8, drop_remainder=True)


def cost_of(x, y):
    ones = tf.ones_initializer()
    hidden = tf.layers.dense(x, 6, tf.nn.relu, name="hidden", kernel_initializer=ones)
    return tf.losses.mean_squared_error(y, tf.layers.dense(hidden, 1, name="out", kernel_initializer=ones))


def model_function(features, labels, mode):
    loss = cost_of(features, labels)
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def estimator_migrated(session_config):
    run_config = tf.estimator.RunConfig(session_config=session_config, save_checkpoints_secs=60 * 60 * 24)
    config = npu_run_config_init(run_config=run_config)
    tf.estimator.Estimator(model_fn=model_function, model_dir="model", config=config).train(data, steps=12)


def estimator_by_hand(session_config):
    layers = "hidden/MatMul out/MatMul"  # beside what the guide sets
    dump_config = DumpConfig(
        enable_dump=True, dump_path="files", dump_step="0|5|10", dump_mode="all", dump_layer=layers
    )
    session_config = tf.ConfigProto(allow_soft_placement=True)
    config = NPURunConfig(dump_config=dump_config, session_config=session_config)
    NPUEstimator(model_fn=model_function, model_dir="model", config=config).train(data, steps=12)


def train_in(config):
    cost = cost_of(*tf.data.make_one_shot_iterator(data()).get_next())
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(cost)
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(12):
            print("loss", sess.run([cost, train_op])[0])


def sess_run_migrated(session_config):
    train_in(npu_config_proto(config_proto=session_config))


def sess_run_by_hand(config):
    config.graph_options.rewrite_options.custom_optimizers[0].parameter_map["use_off_line"].b = True
    config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
    config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
    train_in(config)


def keras_migrated(config_proto):
    import tensorflow.python.keras as keras
    from tensorflow.python.keras import backend as K

    npu_keras_sess = set_keras_session_npu_config(config=config_proto)
    assert K.get_session() is npu_keras_sess
    hidden = keras.layers.Dense(6, "relu", kernel_initializer="ones", name="hidden", input_shape=(4,))
    model = keras.Sequential([hidden, keras.layers.Dense(1, kernel_initializer="ones", name="out")])
    model.compile("sgd", "mse")
    x = np.linspace(-1, 1, 96).reshape(24, 4)
    model.fit(x, x.sum(1, keepdims=True), batch_size=8, epochs=4, shuffle=False, verbose=0)


if __name__ == "__main__":
    os.makedirs("files")
    session_config = tf.ConfigProto(allow_soft_placement=True)
    dump_options(session_config)
    if HOW == "migrated":
        (npu_sess, npu_shutdown) = init_resource(config=session_config)
    globals()[f"{MODE}_{HOW}"](session_config)
    if HOW == "migrated":
        shutdown_resource(npu_sess, npu_shutdown)
        close_session(npu_sess)
