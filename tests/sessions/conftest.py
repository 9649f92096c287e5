# SPDX-License-Identifier: Apache-2.0
"""TensorFlow as version 1: graphs, sessions on the NPU. A session on the CPU, the oracle, is asked for (both.py)."""

import importlib
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS))  # what several folders of tests use
try:
    import npu_device.session
except ImportError:
    sys.path.insert(0, str(TESTS.parent / "adapters/tensorflow"))
    import npu_device.session

tf1 = importlib.import_module("tensorflow").compat.v1
tf1.disable_v2_behavior()
tf1.logging.set_verbosity("ERROR")
npu_device.session.enable()
