# SPDX-License-Identifier: Apache-2.0
"""Scripts in processes of their own: what TensorFlow is told once and for all, such as that it is TensorFlow 1."""

import os
import subprocess
import sys

import npu_device as npu

HEAD = f"""
import os, sys, warnings
sys.path.insert(0, {npu.__path__[0] + "/.."!r})

def raised(kind, words, body):
    try:
        body()
    except kind as e:
        assert all(word in str(e) for word in words.split(" | ")), str(e)
    else:
        raise AssertionError(f"no {{kind.__name__}}")

def told(words, body):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = body()
    texts = [str(one.message) for one in found if all(word in str(one.message) for word in words.split(" | "))]
    return len(texts), result
"""


def run(folder, code, limit=300, **environment):
    """Output and errors of a script, which must end well. It is a file, because autograph reads the source."""
    script = folder / "script.py"
    script.write_text(HEAD + code)
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"} | environment
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment, cwd=folder)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout, done.stderr
