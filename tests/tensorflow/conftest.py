# SPDX-License-Identifier: Apache-2.0
"""TensorFlow with the NPU as the default device of the process. The CPU, the oracle, is asked for by name."""

import os
import pathlib
import sys

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
try:
    import npu_device as npu
except ImportError:
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "adapters/tensorflow"))
    import npu_device as npu

npu.open().as_default()


@pytest.fixture
def nothing_said(monkeypatch):
    """What is told once in a process is told again."""
    from npu_device.setting import telling

    monkeypatch.setattr(telling, "_told", set())
