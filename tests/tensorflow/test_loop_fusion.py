# SPDX-License-Identifier: Apache-2.0
"""Products that leave loops: recurrent layers of all kinds, and loops of the user's own, give with the passes what they
give without, as near to float64; in 1, 2 and 4 threads and twice the same bits."""

import functools
import os
import pathlib
import subprocess
import sys

import npu_device as npu
import numpy as np
import pytest
import tensorflow as tf
from npu_device.adapter import library

layers = tf.keras.layers
NPU = "/device:NPU:0"
PASSES = ("loop_inputs", "loop_sums")
OFF = "\n".join(f"{name}:off" for name in PASSES)


@pytest.fixture(autouse=True)
def switched_on_again():
    yield
    library.switch_fusion(npu.open()._info, b"")


def series(*stack):
    return tf.keras.Sequential([layers.Input((9, 5)), *stack, layers.Dense(4)])


def masked(*stack):
    return tf.keras.Sequential([layers.Input((9, 5)), layers.Masking(), *stack, layers.Dense(4)])


def words(*stack):
    return tf.keras.Sequential([layers.Input((9,)), layers.Embedding(20, 5, mask_zero=True), *stack, layers.Dense(4)])


MODELS = {
    "LSTM": lambda: series(layers.LSTM(6)),
    "GRU": lambda: series(layers.GRU(6)),
    "GRU, reset before": lambda: series(layers.GRU(6, reset_after=False)),
    "SimpleRNN": lambda: series(layers.SimpleRNN(6)),
    "cells": lambda: series(layers.RNN([layers.LSTMCell(6), layers.GRUCell(5)])),
    "backwards": lambda: series(layers.LSTM(6, go_backwards=True)),
    "without bias": lambda: series(layers.LSTM(6, use_bias=False)),
    "sequences": lambda: series(layers.LSTM(6, return_sequences=True), layers.GlobalMaxPooling1D()),
    "stacked": lambda: series(layers.LSTM(6, return_sequences=True), layers.GRU(7)),
    "bidirectional": lambda: series(layers.Bidirectional(layers.LSTM(6, return_sequences=True)), layers.LSTM(5)),
    "masked": lambda: masked(layers.LSTM(6), layers.Flatten()),
    "words": lambda: words(layers.LSTM(6, return_sequences=True), layers.GRU(5)),
}  # fmt: skip


def inputs(name):
    rng = np.random.default_rng(0)
    if name == "words":
        x = rng.integers(1, 20, (16, 9))
        x[:5, 6:] = 0
        return x, rng.integers(0, 4, 16)
    x = rng.normal(size=(16, 9, 5)).astype("float32")
    if name == "masked":
        x[:5, 6:] = 0
    return x, rng.integers(0, 4, 16)


def gradients(name, place, switches="", dtype="float32"):
    """Loss and gradients of a fresh model."""
    library.switch_fusion(npu.open()._info, switches.encode())
    tf.keras.utils.set_random_seed(1)
    tf.keras.backend.set_floatx(dtype)
    try:
        x, y = inputs(name)
        with tf.device(place):
            model = MODELS[name]()

            @tf.function
            def step(x, y):
                with tf.GradientTape() as tape:
                    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(y, model(x))
                return loss, tape.gradient(loss, model.trainable_variables)

            loss, found = step(tf.constant(x if name == "words" else x.astype(dtype)), tf.constant(y))
            return loss.numpy(), [tf.convert_to_tensor(g).numpy() for g in found]
    finally:
        tf.keras.backend.set_floatx("float32")


def effective():
    out = dict.fromkeys(PASSES, 0)
    for function in npu.open().report():
        for fusion in function["fusions"]:
            if fusion["pass"] in out:
                out[fusion["pass"]] += fusion["effective"]
    return out


def distance(mine, exact):
    return max(np.linalg.norm(m - e) / (np.linalg.norm(e) + 1e-12) for m, e in zip(mine, exact, strict=True))


@pytest.mark.promise("recurrent layers whose products leave their loops")
@pytest.mark.parametrize("name", MODELS)
def test_recurrent_layers(name):
    before = effective()
    loss, found = gradients(name, NPU)
    taken = {key: count - before[key] for key, count in effective().items()}
    assert taken["loop_sums"] > 0, taken
    plain_loss, plain = gradients(name, NPU, OFF)
    exact_loss, exact = gradients(name, "CPU", dtype="float64")
    assert abs(loss - exact_loss) <= 2 * abs(plain_loss - exact_loss) + 1e-6
    assert distance(found, exact) <= 2 * distance(plain, exact) + 1e-6


def forwards(i, n):
    return i


def backwards(i, n):
    return n - 1 - i


def again(i, n):
    return i // 2


@pytest.mark.parametrize("order", [forwards, backwards, again])
@pytest.mark.parametrize("turns, limit", [(0, 9.0), (1, 9.0), (7, 9.0), (7, 0.9)])
def test_loops_of_the_users_own(order, turns, limit):
    """`limit`: the loop ends early when the state has grown to it."""
    rng = np.random.default_rng(1)
    x, w, u = (rng.normal(size=shape).astype("float32") for shape in ((7, 6, 5), (5, 8), (8, 8)))

    def function(x, w, u, turns, limit):
        def turn(elements, i, h, kept):
            h = tf.tanh(elements.read(order(i, turns)) @ w + h @ u)
            return i + 1, h, kept.write(i, h)

        with tf.GradientTape() as tape:
            tape.watch([x, w, u])
            elements = tf.TensorArray(x.dtype, 0, dynamic_size=True).unstack(x)
            kept = tf.TensorArray(x.dtype, 0, dynamic_size=True)
            going = lambda i, h, _: tf.logical_and(i < turns, tf.reduce_mean(tf.abs(h)) < limit)  # noqa: E731
            i, h, kept = tf.while_loop(going, functools.partial(turn, elements), (0, tf.zeros((6, 8), x.dtype), kept))
            out = tf.reduce_sum(h * h) + tf.reduce_sum(kept.stack())
        return i, h, tape.gradient(out, [x, w, u])

    def run(place, switches="", dtype="float32"):
        library.switch_fusion(npu.open()._info, switches.encode())
        with tf.device(place):
            given = [tf.constant(v.astype(dtype)) for v in (x, w, u)]
            i, h, found = tf.function(function)(*given, tf.constant(turns), tf.constant(limit, dtype))
            return i.numpy(), [h.numpy(), *(tf.convert_to_tensor(g).numpy() for g in found)]

    count, mine = run(NPU)
    _, plain = run(NPU, OFF)
    exact_count, exact = run("CPU", dtype="float64")
    assert count == exact_count
    assert distance(mine, exact) <= 2 * distance(plain, exact) + 1e-6


IN_THREADS = """
import hashlib, sys
sys.path[:0] = [sys.argv[1]]
import conftest, npu_device as npu, numpy as np, tensorflow as tf
tf.keras.utils.set_random_seed(1)
layers = tf.keras.layers
x = np.random.default_rng(0).normal(size=(64, 40, 32)).astype("float32")
model = tf.keras.Sequential([layers.Input((40, 32)), layers.LSTM(64, return_sequences=True), layers.GRU(48)])
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x) ** 2)
    return tape.gradient(loss, model.trainable_variables)
said = [hashlib.sha256(b"".join(g.numpy().tobytes() for g in step(tf.constant(x)))).hexdigest() for _ in range(2)]
assert said[0] == said[1], said
print(said[0])
"""


def test_threads_and_runs_change_nothing():
    said = []
    for threads in ("1", "2", "4"):
        done = subprocess.run([sys.executable, "-c", IN_THREADS, str(pathlib.Path(__file__).parent)], text=True,
                              capture_output=True, env={**os.environ, "ANYNPU_THREADS": threads})  # fmt: skip
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.split()[-1])
    assert len(set(said)) == 1, said
