# SPDX-License-Identifier: Apache-2.0
"""A step of a small network whose tensors are dumped: `compared_run.py MODEL FAULT WHERE`. MODEL is cnn or encoder.
FAULT is what is planted: none, epsilon, weight, bias or rate (of learning). WHERE is output or all (a dump of the NPU),
cold (none), or cpu: arrays of every operator, as TensorFlow's CPU computes them, in the folder arrays."""

import sys

import numpy as np
import tensorflow as tf

MODEL, FAULT, WHERE = sys.argv[1:]
layers = tf.keras.layers


class Encoder(layers.Layer):
    """A layer of a transformer."""

    def __init__(self, name, epsilon=1e-3, bias=True):
        super().__init__(name=name)
        self.query, self.key = layers.Dense(16, name="query"), layers.Dense(16, name="key")
        self.value, self.out = layers.Dense(16, name="value"), layers.Dense(16, name="output")
        self.norm = layers.LayerNormalization(epsilon=epsilon, name="norm")
        self.up = layers.Dense(32, name="up", activation="gelu", use_bias=bias, bias_initializer="random_normal")
        self.down = layers.Dense(16, name="down")

    def call(self, x):
        shares = tf.nn.softmax(tf.matmul(self.query(x), self.key(x), transpose_b=True) / 4.0)
        x = self.norm(x + self.out(tf.matmul(shares, self.value(x))))
        return x + self.down(self.up(x))


def encoder():
    inputs = tf.keras.Input((6,), dtype=tf.int32, name="ids")
    x = layers.Embedding(30, 16, name="embeddings")(inputs)
    x = Encoder("layer0")(x)
    x = Encoder("layer1", 0.1 if FAULT == "epsilon" else 1e-3, FAULT != "bias")(x)
    return tf.keras.Model(inputs, layers.Dense(5, name="head")(tf.reduce_mean(x, 1)))


def cnn():
    inputs = tf.keras.Input((12, 12, 3), name="images")
    x = layers.Conv2D(8, 3, name="conv0", activation="relu")(inputs)
    x = layers.Conv2D(8, 3, name="conv1", use_bias=FAULT != "bias", bias_initializer="random_normal")(x)
    x = layers.BatchNormalization(name="norm", epsilon=1e-2 if FAULT == "epsilon" else 1e-3)(x)
    x = layers.Flatten(name="flat")(layers.MaxPooling2D(name="pool")(tf.nn.relu(x)))
    return tf.keras.Model(inputs, layers.Dense(5, name="head")(x))


def made():
    """The model and its data, with the same weights for every fault."""
    tf.keras.utils.set_random_seed(1)
    model = {"cnn": cnn, "encoder": encoder}[MODEL]()
    for variable in model.weights:
        seed = sum(variable.name.encode())
        noise = np.random.default_rng(seed).normal(size=variable.shape) * (0.02 if "norm" in variable.name else 0.3)
        variable.assign(np.abs(noise + 1) if "variance" in variable.name or "gamma" in variable.name else noise)
    if FAULT == "weight":
        changed = {"cnn": "conv1/kernel:0", "encoder": "layer1/up/kernel:0"}[MODEL]
        (variable,) = (v for v in model.weights if v.name.endswith(changed))
        variable.assign(variable * 1.02)
    shape = {"cnn": (4, 12, 12, 3), "encoder": (4, 6)}[MODEL]
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    return model, tf.constant(np.abs(x * 7).astype(np.int32) if MODEL == "encoder" else x)


def trained(model, x, y):
    """The loss and the gradients, with the step of plain descent."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True)))
    variables = model.trainable_variables
    for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
        if isinstance(gradient, tf.IndexedSlices):
            gradient = tf.convert_to_tensor(gradient)
        variable.assign_sub((0.2 if FAULT == "rate" else 0.1) * gradient)
    return loss


def write_arrays(model, x, y):
    """Every tensor of the function, under the names that the comparison knows."""
    step = tf.compat.v1.wrap_function(
        lambda a, b: trained(model, a, b), [tf.TensorSpec(t.shape, t.dtype) for t in (x, y)]
    )
    kept = [t for op in step.graph.get_operations() for t in op.outputs if t.dtype in (tf.float32, tf.int32, tf.int64)]
    kept = [t for t in kept if t.op.type not in ("Placeholder",)]
    tf.io.gfile.makedirs("arrays")
    for tensor, value in zip(kept, step.prune(step.inputs[:2], kept)(x, y), strict=True):
        np.save(f"arrays/{tensor.op.name.replace('/', '_')}.{tensor.value_index}.1700000000000000", value.numpy())


def main():
    if WHERE != "cpu":
        import npu_device as npu

        if WHERE != "cold":
            options = npu.global_options().dump_config
            options.enable_dump, options.dump_path, options.dump_mode = True, "files", WHERE
            tf.io.gfile.makedirs("files")
        npu.open().as_default()
    model, x = made()
    y = tf.constant([0, 1, 2, 3])
    if WHERE == "cpu":
        return write_arrays(model, x, y)
    step = tf.function(lambda a, b: trained(model, a, b))
    for _ in range(2):
        step(x, y)


main()
