# SPDX-License-Identifier: Apache-2.0
"""anynpu run --nan-check names the node that made the first infinity or NaN, in a process of its own."""

import os
from pathlib import Path

import anynpu_run

TOOLS = Path(__file__).resolve().parents[2] / "tools"
SCRIPT = """import npu_device as npu
import tensorflow as tf
npu.open().as_default()
@tf.function
def step(x):
    y = tf.math.log(x, name="logarithm")
    return tf.matmul(y, y)
for least in (1.0, 0.0):
    step(tf.fill([2, 2], least))
"""


def test_the_node_and_the_line_that_ran_its_function_are_named(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    env = {**os.environ, "PYTHONPATH": f"{TOOLS}:{os.environ.get('PYTHONPATH', '')}"}
    done = anynpu_run.run("--nan-check", script, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (told,) = [line for line in done.stderr.splitlines() if line.startswith("anynpu run --nan-check")]
    assert "node 'logarithm' of __inference_step_" in told and " in step 1 made 4 infinities of finite inputs" in told
    assert told.endswith(f"float32[2x2], at {script}:9")
