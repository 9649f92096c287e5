# SPDX-License-Identifier: Apache-2.0
"""profiling_config: records of a training function in a PROF_* folder, each case in a process of its own."""

import csv
import json
import os
import subprocess
import sys

import pytest
from anynpu.library import place

TRAIN = """
import tensorflow as tf
import npu_device as npu
config = npu.global_options().profiling_config
config.enable_profiling = True
config.profiling_options = {options!r}
npu.open().as_default()
w = tf.Variable(tf.ones([4, 3]), name="w")
optimizer = tf.keras.optimizers.SGD(0.1)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.matmul(x, w, name="logits"))
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    return loss

for _ in range(3):
    step(tf.ones([2, 4]))
"""


def run(options):
    return subprocess.run(
        [sys.executable, "-c", TRAIN.format(options=options)], capture_output=True, text=True,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )  # fmt: skip


@pytest.mark.promise("profiling_config records the nodes of TensorFlow's functions")
def test_a_training_function_is_recorded(tmp_path):
    done = run(json.dumps({"output": str(tmp_path), "training_trace": "on", "task_trace": "on"}))
    assert done.returncode == 0, done.stderr
    (folder,) = tmp_path.iterdir()
    assert f"msprof --export=on --output={folder}" in done.stderr
    subprocess.run([place.home() / "tools/profiler/bin/msprof", "--export=on", f"--output={folder}"], check=True)
    (summary,) = folder.rglob("op_summary_*.csv")
    with open(summary, newline="") as file:
        rows = list(csv.DictReader(file))
    products = [row for row in rows if row["OP Type"].startswith("MatMul")]
    assert len(products) >= 2 * 3, f"a product and its gradient in each of 3 steps: {products}"
    assert {row["Task Type"] for row in products} == {"AI_CORE"}


PART = """
import tensorflow as tf
import npu_device as npu
npu.open().as_default()

@tf.function
def step(x):
    return tf.matmul(x, x)

x = tf.ones([4, 4])
step(x)
with npu.profiler.Profiler(level="L1", aic_metrics="L2Cache", output_path={folder!r}):
    for _ in range(2):
        step(x)
    try:
        npu.profiler.Profiler().__enter__()
    except RuntimeError as error:
        assert "a collection runs already" in str(error)
    else:
        raise AssertionError
step(x)
for wrong in (lambda: npu.profiler.Profiler(level="L7"), npu.profiler.Profiler(output_path="/proc/none").__enter__):
    try:
        wrong()
    except ValueError as error:
        print(error)
"""


@pytest.mark.promise("npu.profiler.Profiler records a part of a TensorFlow program")
def test_a_part_of_a_program_is_recorded(tmp_path):
    done = subprocess.run([sys.executable, "-c", PART.format(folder=str(tmp_path))], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "level is 'L7'; write L0, L1 or L2" in done.stdout and "'/proc/none' is no folder" in done.stdout
    assert done.stderr.count("aic_metrics ask for counters of the chip") == 1, done.stderr
    (folder,) = tmp_path.iterdir()
    subprocess.run([place.home() / "tools/profiler/bin/msprof", "--export=on", f"--output={folder}"], check=True)
    (summary,) = folder.rglob("op_summary_*.csv")
    with open(summary, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["OP Type"].startswith("MatMul")]
    assert len(rows) == 2 and {row["Task Type"] for row in rows} == {"AI_CORE"}, rows
    assert {row["Input Shapes"] for row in rows} == {'"4,4"'}, rows


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (None, "enable_profiling needs profiling_options"),
        ("output", "profiling_options is no JSON object"),
        ('{"output": "/proc/none"}', "'/proc/none' is no folder"),
    ],
)
def test_what_cannot_be_recorded_is_refused(options, reason):
    done = run(options)
    assert done.returncode != 0 and f"ValueError: {reason}" in done.stderr.replace("profiling_config.", ""), done.stderr
