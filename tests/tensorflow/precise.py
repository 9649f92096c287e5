# SPDX-License-Identifier: Apache-2.0
"""Run by test_precision.py with as many devices as it has cases: each opens one with options of its own, trains a model
or runs a function on it, and tells the losses or results, the dtype of every node and the warnings. Cases come as JSON
on stdin, what happened goes as JSON to stdout."""

import json
import sys
import warnings

import models
import movement
import npu_device as npu
import numpy as np
import tensorflow as tf

LOSS = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
RATE, STEPS = 1e-3, 10


def train(name, dtype="float32"):
    """The losses of all steps, and how far each tensor of weights moved."""
    model = models.make(name, dtype)
    before = models.weights(model)
    optimizer = tf.keras.optimizers.SGD(RATE)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            logits = tf.cast(model(tf.cast(x, model.compute_dtype), training=True), tf.float32)
            loss = LOSS(y, logits)
        found = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(found, model.trainable_variables, strict=True))
        return loss

    losses = [float(step(x, y)) for x, y in models.batches(name, STEPS)]
    moved = movement.between(before, models.weights(model))
    return losses, {name: array.tolist() for name, array in moved.items()}


def chain():
    """Four products in a row, the first in a scope that keeps its dtype."""
    w = tf.constant(np.random.default_rng(2).normal(size=(8, 8)).astype("float32"))

    @tf.function
    def products(x):
        with npu.keep_dtype_scope():
            x = tf.matmul(x, w, name="kept")
        for name in ("first", "second"):
            x = tf.matmul(x, w, name=name)
        return tf.nn.relu(tf.matmul(x, w, transpose_b=True, name="last"), name="relu")

    return products(tf.ones([4, 8])).numpy().ravel().tolist(), {}


def run(case):
    if case["subject"] == "chain":
        return chain()
    return train(case["subject"], case.get("dtype", "float32"))


def on_npu(number, case):
    options = npu.global_options()
    for name in ("precision_mode", "precision_mode_v2", "modify_mixlist", "customize_dtypes", "op_precision_mode"):
        setattr(options, name, case.get("options", {}).get(name))
    told = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            handle = npu.open(number)
        except ValueError as error:
            return {"refused": str(error)}
        handle.as_default()
        try:
            told["results"], told["moved"] = run(case)
        except tf.errors.OpError as error:
            told["failed"] = error.message
    told["warnings"] = [str(one.message) for one in said]
    functions = [f for f in handle.report() if not f["name"].startswith("operator ")]
    told["nodes"] = [node for f in functions for node in f.get("precision", [])]
    told["host"] = [one["op"] for f in functions for one in f["host"]]
    return told


def main():
    cases = json.load(sys.stdin)
    with tf.device("CPU"):
        reference = {name: run({"subject": name}) for name in sorted({case["subject"] for case in cases})}
    json.dump([reference, [on_npu(number, case) for number, case in enumerate(cases)]], sys.stdout)


main()
