# SPDX-License-Identifier: Apache-2.0
"""tf.keras in a session, as the vendor's guide to TensorFlow 2.6 migrates it by hand (its section 6.9.4), in small."""

import npu_device
import numpy as np
import tensorflow as tf
import tensorflow.keras as keras
from npu_device.compat.v1.npu_init import *
from tensorflow.keras import backend as K

npu_device.compat.enable_v1()

sess_config = tf.compat.v1.ConfigProto()
custom_op = sess_config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
sess_config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
sess_config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
sess = tf.compat.v1.Session(config=sess_config)
K.set_session(sess)

rng = np.random.RandomState(1)
labels = rng.randint(0, 3, 96)
images = 0.3 * rng.randn(96, 12) + np.repeat(np.eye(3), 4, 1)[labels]
model = keras.Sequential(
    [keras.layers.Dense(32, activation="relu", input_shape=(12,)), keras.layers.Dense(3, activation="softmax")]
)
model.compile(keras.optimizers.legacy.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(images, labels, batch_size=16, epochs=6, verbose=0).history
for loss in history["loss"]:
    print("loss", loss)
assert K.get_session() is sess
sess.close()
