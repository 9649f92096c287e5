# SPDX-License-Identifier: Apache-2.0
"""Scripts of TensorFlow 1 in processes of their own: what disable_v2_behavior does to a process cannot be undone."""

import os
import subprocess
import sys

import npu_device as npu

HEAD = """
import os, sys, warnings
sys.path.insert(0, {folder!r})
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)
if os.environ.get("CONTROL_FLOW") == "v2":
    tf.enable_control_flow_v2()
    tf.enable_resource_variables()

def raised(kind, words, body):
    try:
        body()
    except kind as e:
        assert all(word in str(e) for word in words.split(" | ")), str(e)
    else:
        raise AssertionError(f"no {{kind.__name__}}")
"""


def run(folder, code, limit=180, **environment):
    """Output and errors of a script, which must end well."""
    script = folder / "script.py"
    script.write_text(HEAD.format(folder=npu.__path__[0] + "/..") + code)
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"} | environment
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout, done.stderr
