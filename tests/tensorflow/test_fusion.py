# SPDX-License-Identifier: Apache-2.0
"""Fusion passes change no bit but for those of rounding.py: training with all others, with none and with each one left
out, in 1, 2 and 4 threads and twice. And the option that switches them."""

import functools
import json
import os
import pathlib
import subprocess
import sys

import models
import npu_device as npu
import numpy as np
import pytest
import rounding
import tensorflow as tf
from npu_device.adapter import library

LOSS = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
OPTIMIZERS = {
    "adam": lambda: tf.keras.optimizers.Adam(1e-2),
    "sgd": lambda: tf.keras.optimizers.SGD(1e-2, momentum=0.9, nesterov=True),
    "rmsprop": lambda: tf.keras.optimizers.RMSprop(1e-2, momentum=0.9, centered=True),
}
PASSES = library.fusions()


@pytest.fixture(autouse=True)
def switched_on_again():
    yield
    library.switch_fusion(npu.open()._info, b"")


def trained(name, optimizer, switches, dtype="float32"):
    """The losses of three steps and all weights after them, as bytes; the function is compiled with these switches."""
    library.switch_fusion(npu.open()._info, switches.encode())
    model, opt = models.make(name, dtype), OPTIMIZERS[optimizer]()
    opt.build(model.trainable_variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = LOSS(y, tf.cast(model(x, training=True), tf.float32))
        found = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(found, model.trainable_variables, strict=True))
        return loss

    losses = [step(tf.constant(x), tf.constant(y)).numpy() for x, y in models.batches(name, 3)]
    assert np.isfinite(losses).all()
    return losses, [variable.numpy().tobytes() for variable in model.variables + opt.variables]


@functools.cache
def fused(name, optimizer):
    return trained(name, optimizer, rounding.OFF)


def effective():
    """How often each pass did something, over all functions so far."""
    out = dict.fromkeys(PASSES, 0)
    for function in npu.open().report():
        for fusion in function["fusions"]:
            out[fusion["pass"]] += fusion["effective"]
    return out


@pytest.mark.parametrize("name", models.MODELS)
def test_all_or_none(name):
    before = effective()
    fused = trained(name, "adam", rounding.OFF)
    assert effective()["variable_update"] > before["variable_update"]
    between = effective()
    assert fused == trained(name, "adam", "ALL:off")
    assert effective() == between


@pytest.mark.promise("fused graphs give what their nodes give, with every fusion on, off, and each one off")
@pytest.mark.parametrize("left_out", [name for name in PASSES if name not in rounding.PASSES])
@pytest.mark.parametrize("name, optimizer", [("cnn", "sgd"), ("lstm", "rmsprop"), ("attention", "adam")])
def test_each_left_out(name, optimizer, left_out):
    assert fused(name, optimizer) == trained(name, optimizer, f"{rounding.OFF}{left_out}:off")


def test_mixed_precision():
    assert trained("cnn", "adam", rounding.OFF, "mixed_float16") == trained("cnn", "adam", "ALL:off", "mixed_float16")


IN_THREADS = """
import hashlib, sys
sys.path[:0] = [sys.argv[1]]
import conftest, test_fusion
for name in ("cnn", "attention"):
    weights = test_fusion.trained(name, "adam", "")[1]
    print(hashlib.sha256(b"".join(weights)).hexdigest(), end=" ")
"""


def in_process(code, *arguments, **environment):
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True,
                          env={**os.environ, **environment})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def test_threads_and_runs_change_nothing():
    here = str(pathlib.Path(__file__).parent)
    said = [in_process(IN_THREADS, here, ANYNPU_THREADS=threads) for threads in ("1", "2", "4")]
    assert len(set(said)) == 1, said


SWITCHED = """
import json, os, sys, warnings
sys.path[:0] = sys.argv[2:]
import npu_device as npu, tensorflow as tf
folder = sys.argv[1]
def refusal(name):
    npu.global_options().fusion_switch_file = os.path.join(folder, name)
    try:
        npu.open()
    except ValueError as error:
        return str(error).replace(folder, "")
said = [refusal("missing.cfg"), refusal("malformed.json"), refusal("malformed.cfg")]
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    npu.global_options().fusion_switch_file = os.path.join(folder, "good.json")
    npu.open().as_default()
said += [str(w.message).replace(folder, "") for w in warned if "fusion" in str(w.message)]
f = tf.function(lambda x: tf.nn.relu(x * x + x))
f(tf.ones([4]))
said.append([x["fusions"] for x in npu.open().report() if "lambda" in x["name"]])
print(json.dumps(said))
"""


def test_the_option(tmp_path):
    (tmp_path / "malformed.json").write_text('{"Switch": {\n  "ALL": off}}')
    (tmp_path / "malformed.cfg").write_text("TbeEltwiseFusionPass:off\nelementwise=on\n")
    (tmp_path / "good.json").write_text(
        '{"Switch": {"GraphFusion": {"ALL": "on", "SoftmaxFusionPass": "on"}, "UBFusion": {"ALL": "off"}}}'
    )
    paths = [p for p in sys.path if p]
    missing, malformed, line, unknown, fusions = json.loads(in_process(SWITCHED, str(tmp_path), *paths))
    assert missing.startswith("option fusion_switch_file is '/missing.cfg': No such file")
    assert malformed.startswith("option fusion_switch_file is '/malformed.json', line 2, column ")
    assert line.startswith("option fusion_switch_file is '/malformed.cfg', line 2, column 1: a line names a pass")
    assert unknown == "/good.json names fusion passes that are not here, without effect: SoftmaxFusionPass"
    assert fusions == [[]]
