# SPDX-License-Identifier: Apache-2.0
"""What needs a process of its own: little memory, threads that may wait for each other, what is said once a process."""

import os
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).parent / "in_little_memory.py"
LONGEST = 180  # seconds: stock TensorFlow never ends in threads()


def test_little_memory_threads_and_warnings():
    environment = os.environ | {"ANYNPU_MEMORY": "256M", "PYTHONFAULTHANDLER": "1"}
    ran = subprocess.run([sys.executable, SCRIPT], env=environment, capture_output=True, text=True, timeout=LONGEST)
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert ran.stdout.split() == ["graph", "operator", "variable", "gradient", "threads", "nested", "captured"]
    assert ran.stderr.count("captures a variable") == 1
