# SPDX-License-Identifier: Apache-2.0
"""anynpu run --bisect finds the fusion pass, and the nodes of reduced precision, that move a script's loss; --repeat
names the node that differs. Each run of the script is a process of its own."""

import os
from pathlib import Path

import anynpu_run
import npu_device
import pytest

ROOT = Path(__file__).resolve().parents[2]

LAYER_NORM = """import npu_device as npu
import numpy as np
import tensorflow as tf
npu.open().as_default()
tf.keras.utils.set_random_seed(1)
layers = tf.keras.layers
model = tf.keras.Sequential([layers.Input((8,)), layers.Dense(16), layers.LayerNormalization(), layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
x = tf.constant(np.random.default_rng(0).normal(size=(16, 8)).astype("float32"))
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x, training=True) ** 2)
    found = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(found, model.trainable_variables))
    return loss
for _ in range(4):
    print("loss:", repr(float(step(x))))
"""
OVERFLOW = """import npu_device as npu
import tensorflow as tf
npu.global_options().precision_mode = "allow_fp32_to_fp16"
npu.open().as_default()
w = tf.constant([[100.0, 1.0], [1.0, 100.0]])
@tf.function
def step(x):
    x = tf.matmul(x, w, name="first")
    x = tf.matmul(x, w, name="second")
    return tf.reduce_sum(tf.matmul(x * 1e-6, w, name="third"))
print("loss:", float(step(tf.fill([2, 2], 30.0))))
"""
UNSEEDED = """import npu_device as npu
import tensorflow as tf
npu.open().as_default()
@tf.function
def step(x):
    return tf.reduce_sum(x + tf.random.uniform([4], name="drawn"))
print("loss:", float(step(tf.ones([4]))))
"""


@pytest.fixture
def told(tmp_path, capfd):
    def run(text, *options):
        script = tmp_path / "train.py"
        script.write_text(text)
        packages = [ROOT / "tools", Path(npu_device.__file__).parents[1], os.environ.get("PYTHONPATH", "")]
        env = {"PYTHONPATH": os.pathsep.join(map(str, packages))}
        done = anynpu_run.run_repeatedly(capfd, *options, script, env=env)
        lines = [line for line in done.stderr.splitlines() if line.startswith("anynpu run --")]
        return done.returncode, [line.partition(": ")[2] for line in lines]

    return run


def test_the_pass_that_rounds_otherwise_is_found(told):
    code, lines = told(LAYER_NORM, "--bisect", "fusion", "--series")
    assert code == 0, lines
    assert any(line.endswith("runs: 1 fusion pass: layer_norm") for line in lines), lines


def test_the_node_that_overflows_is_found(told):
    code, lines = told(OVERFLOW, "--bisect", "precision", "--tolerance", "0.01")
    assert code == 0, lines
    assert lines[0] == "nothing off: inf"
    assert any(line.endswith("runs: 1 node: second") for line in lines), lines


def test_a_script_without_a_precision_mode_is_innocent(told):
    code, lines = told(LAYER_NORM, "--bisect", "precision")
    assert code == 0 and lines[-1].startswith("precision is innocent: every node computes in the dtype that the graph")


def test_what_is_random_is_not_searched_and_its_node_is_named(told):
    code, lines = told(UNSEEDED, "--bisect", "fusion")
    assert code == 1 and "what is random must go first" in lines[-1]
    code, lines = told(UNSEEDED, "--repeat", "2")
    assert code == 1 and "drawn" in lines[-1] and "; it draws random numbers: set a seed" in lines[-1]
    assert lines[-1].endswith("train.py:7")
