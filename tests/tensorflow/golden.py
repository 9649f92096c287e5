# SPDX-License-Identifier: Apache-2.0
"""A step of a small model, dumped: `golden.py cnn|encoder cpu|npu FOLDER [EPSILON]`. On the CPU
tfdbg_ascend dumps, on the NPU dump_config."""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

MODEL, SIDE, FOLDER, EPSILON = sys.argv[1], sys.argv[2], sys.argv[3], float((sys.argv[4:] or ["1e-3"])[0])
if SIDE == "npu":
    import npu_device as npu

    npu.global_options().dump_config.enable_dump = True
    npu.global_options().dump_config.dump_path = FOLDER
    npu.global_options().dump_config.dump_step = "0"
    npu.open().as_default()
else:
    import tfdbg_ascend as dbg

    dbg.disable()
    dbg.set_dump_path(FOLDER)


class Weights:
    """Weights that are the same everywhere."""

    def __init__(self):
        self.all, self.random = [], np.random.default_rng(7)

    def __call__(self, *shape):
        values = self.random.normal(0, 0.3, shape).astype(np.float32)
        self.all.append(tf.Variable(values, name=f"w{len(self.all)}"))
        return self.all[-1]


def normalized(x, scale, axes, name):
    with tf.name_scope(name):
        mean, variance = tf.nn.moments(x, axes, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + EPSILON) * scale


w = Weights()
if MODEL == "cnn":
    X = np.random.default_rng(1).normal(0, 1, (4, 8, 8, 3)).astype(np.float32)
    kernels, scale, last = [w(3, 3, 3, 8), w(3, 3, 8, 8)], w(8), w(4 * 4 * 8, 5)

    def forward(x):
        x = tf.nn.relu(tf.nn.conv2d(x, kernels[0], 1, "SAME", name="first"))
        x = normalized(x, scale, [0, 1, 2], "norm")
        x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, kernels[1], 1, "SAME", name="second")), 2, 2, "VALID")
        return tf.matmul(tf.reshape(x, [4, -1]), last, name="logits")

else:
    X = np.random.default_rng(1).normal(0, 1, (2, 6, 16)).astype(np.float32)
    blocks = [([w(16, 16) for _ in range(4)], w(16), w(16, 32), w(32, 16), w(16)) for _ in range(2)]
    last = w(16, 5)

    @tf.function
    def attention(x, q, k, v, o):
        def heads(weight):
            return tf.transpose(tf.reshape(x @ weight, [2, 6, 4, 4]), [0, 2, 1, 3])

        scores = tf.nn.softmax(tf.matmul(heads(q), heads(k), transpose_b=True) * 0.5)
        return tf.reshape(tf.transpose(scores @ heads(v), [0, 2, 1, 3]), [2, 6, 16]) @ o

    def forward(x):
        for number, (projections, first_scale, up, down, second_scale) in enumerate(blocks):
            x = normalized(x + attention(x, *projections), first_scale, [-1], f"block{number}/first_norm")
            x = normalized(x + tf.nn.gelu(x @ up) @ down, second_scale, [-1], f"block{number}/second_norm")
        return x[:, 0] @ last


LABELS = np.arange(len(X)) % 5
optimizer = tf.keras.optimizers.legacy.SGD(0.01)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS, forward(x))
        loss = tf.reduce_mean(losses)
    optimizer.apply_gradients(zip(tape.gradient(loss, w.all), w.all, strict=True))
    return loss


x = tf.constant(X)

if SIDE == "cpu":
    dbg.enable()
print(float(step(x)))
