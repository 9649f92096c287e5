# SPDX-License-Identifier: Apache-2.0
"""Types that the SoC of ANYNPU_SOC does not have are refused in functions and by eager operators."""

import json
import os
import subprocess
import sys
from pathlib import Path

import npu_device
import pytest

SCRIPT = """
import json
import numpy as np
import tensorflow as tf
import npu_device as npu
npu.open().as_default()
half = tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float16)
with tf.device("CPU"):
    given = tf.cast(half, tf.bfloat16)
told = {"half": tf.function(lambda x: x @ x)(half).numpy().tolist()}
calls = {
    "cast": lambda: tf.function(lambda x: tf.cast(x, tf.bfloat16))(half),
    "MatMul": lambda: tf.function(lambda x: tf.matmul(x, x, name="mine"))(tf.identity(given)),
    "eager": lambda: tf.identity(given) + tf.identity(given),
}
for name, call in calls.items():
    try:
        call()
        told[name] = "computed"
    except (tf.errors.OpError, RuntimeError, TypeError, ValueError) as error:
        told[name] = str(error)
print(json.dumps(told))
"""


@pytest.mark.parametrize("soc", ["Ascend910A", "Ascend310P3"])
def test_bfloat16_is_refused_where_the_soc_has_none(soc):
    variables = os.environ | {"ANYNPU_SOC": soc, "TF_CPP_MIN_LOG_LEVEL": "2"}
    paths = [str(Path(npu_device.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    variables["PYTHONPATH"] = os.pathsep.join(paths)
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=variables, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told.pop("half") == [[7, 10], [15, 22]]
    for name, text in told.items():
        assert f"takes no bfloat16 on {soc}" in text and "ANYNPU_SOC" in text, (name, text)
    assert "mine" in told["MatMul"]
