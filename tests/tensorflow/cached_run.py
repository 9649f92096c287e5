# SPDX-License-Identifier: Apache-2.0
"""A process that compiles a step under options given as JSON, trains with it, and prints what it gave: the bits of the
results, and what became of the step's functions. Arguments: the options, how many layers the model has and, where a
full disk is asked for, how many bytes a file may have once the device has its memory."""

import json
import resource
import signal
import sys

import npu_device as npu
import tensorflow as tf

options, layers = json.loads(sys.argv[1]), int(sys.argv[2])
for name, value in options.items():
    setattr(npu.global_options(), name, value)
device = npu.open()
device.as_default()

tf.keras.utils.set_random_seed(7)
model = tf.keras.Sequential([*(tf.keras.layers.Dense(8, "tanh") for _ in range(layers)), tf.keras.layers.Dense(4)])
model.build([None, 8])
optimizer = tf.keras.optimizers.Adam(0.01)
if len(sys.argv) > 3:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, model(x), from_logits=True))
    found = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(found, model.trainable_variables, strict=True))
    return loss


@tf.function
def count_down(n, x):
    while n > 0:
        x = tf.nn.relu(x * 1.5 - 0.25)
        n -= 1
    return x


x, y = tf.random.normal([16, 8]), tf.constant([0, 1, 2, 3] * 4)
losses = [float(step(x, y)).hex() for _ in range(3)]
weights = [v.numpy().tobytes().hex() for v in model.trainable_variables]
looped = count_down(tf.constant(5), x).numpy().tobytes().hex()
found = {f["name"]: f["cache"] for f in device.report() if "step" in f["name"]}
print(json.dumps({"bits": [losses, weights, looped], "cache": found}))
