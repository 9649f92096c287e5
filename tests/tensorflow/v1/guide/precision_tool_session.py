# SPDX-License-Identifier: Apache-2.0
"""What the vendor's precision tool has scripts of sessions and estimators write: the step that is dumped is the first."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
import precision_tool.tf_config as npu_tf_config

try:
    npu_tf_config.estimator_dump_config(action="dump")
except ImportError as error:
    assert "from npu_bridge.npu_init import *" in str(error)
else:
    raise AssertionError("there is no DumpConfig yet")
from npu_bridge.npu_init import *

config = npu_tf_config.session_dump_config(npu_config_proto(), action="dump")
assert len(config.graph_options.rewrite_options.custom_optimizers) == 1
dump_config = npu_tf_config.estimator_dump_config(action="dump|fusion_off")
session_parameters = NPURunConfig(dump_config=dump_config).session_parameters
x = tf.constant(np.ones([4, 3]), tf.float32)
loss = tf.reduce_sum(tf.layers.dense(x, 2, name="layer"))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        print("loss", sess.run([loss, train_op])[0])
asked = config.graph_options.rewrite_options.custom_optimizers[0].parameter_map
assert {name: value.b or value.s.decode() for name, value in asked.items()} == session_parameters, session_parameters
try:
    npu_tf_config.sess_dump(sess)
except AttributeError as error:
    assert "DumpingDebugWrapperSession" in str(error)
