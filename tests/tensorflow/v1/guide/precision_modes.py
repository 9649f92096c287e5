# SPDX-License-Identifier: Apache-2.0
"""python precision_modes.py KEY VALUE: trains in a session with that key of NpuOptimizer, and prints the dtype that each
product was computed in, the losses, and the type of what is fetched."""

import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
from npu_bridge.estimator.npu.npu_scope import keep_dtype_scope
from npu_bridge.npu_init import *

KEY, VALUE = sys.argv[1:]
with open("dtypes.cfg", "w") as file:
    file.write("first/MatMul::InputDtype:float32,float32,OutputDtype:float32\n")
with open("lists.json", "w") as file:
    file.write('{"black-list": {"to-add": ["MatMulV2"]}}')

config = npu_config_proto()
asked = config.graph_options.rewrite_options.custom_optimizers[0].parameter_map
if KEY == "mix_compile_mode":
    asked[KEY].b = VALUE == "True"
else:
    asked[KEY].s = tf.compat.as_bytes(VALUE)
    if KEY in ("modify_mixlist", "customize_dtypes"):
        asked["precision_mode"].s = b"allow_mix_precision"

x = tf.constant(np.random.RandomState(0).randn(16, 8), tf.float32)
with tf.variable_scope("v"):
    weights = [tf.get_variable(f"w{k}", shape, initializer=tf.glorot_uniform_initializer(k))
               for k, shape in enumerate([(8, 8), (8, 8), (8, 4)])]  # fmt: skip
net = tf.nn.relu(tf.matmul(x, weights[0], name="first/MatMul"))
with keep_dtype_scope():
    net = tf.nn.relu(tf.matmul(net, weights[1], name="kept/MatMul"))
logits = tf.matmul(net, weights[2], name="last/MatMul")
text = tf.strings.as_string(tf.argmax(logits, 1))  # what has no node on the NPU
loss = tf.losses.sparse_softmax_cross_entropy(np.arange(16) % 4, logits)
train_op = tf.train.AdamOptimizer(0.02).minimize(loss)
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(10):
        _, value, words = sess.run([train_op, loss, text])
        print("loss", value)
    assert words.shape == (16,) and isinstance(words[0], bytes)
import npu_device

step = max(npu_device.open().report(), key=lambda part: part["nodes"])
for node in step["precision"]:
    if node["op"] == "MatMul":
        print("product", node["node"].split("/")[-2], node["dtype"])
print("host", " ".join(sorted(one["op"] for one in step["host"])))
