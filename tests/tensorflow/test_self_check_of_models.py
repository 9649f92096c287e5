# SPDX-License-Identifier: Apache-2.0
"""anynpu run --self-check of TensorFlow: nodes, fused ones too, are checked, and nothing is told of what is right."""

import os
from pathlib import Path

import anynpu_run
import pytest

HERE = Path(__file__).resolve().parent
TOOLS = HERE.parents[1] / "tools"
SCRIPT = f"""import sys
sys.path.insert(0, {str(HERE)!r})
import npu_device as npu
import tensorflow as tf
npu.open().as_default()
import models
model = models.make(sys.argv[1])
optimizer = tf.keras.optimizers.legacy.Adam(1e-3)
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
for x, y in models.batches(sys.argv[1], 6):
    print(step(tf.constant(x), tf.constant(y)).numpy().item().hex())
"""


@pytest.mark.parametrize("model", ["cnn", "attention"])
def test_what_is_right_is_not_named_and_nearly_all_is_checked(tmp_path, model):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    env = {**os.environ, "PYTHONPATH": f"{TOOLS}:{os.environ.get('PYTHONPATH', '')}"}
    done = anynpu_run.run("--self-check", script, model, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("anynpu run --self-check: ")]
    assert told[0].endswith("0 kinds of operators deviated"), told
    assert float(told[0].split("(")[1].split(" %")[0]) >= 95, told
