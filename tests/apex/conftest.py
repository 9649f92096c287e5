# SPDX-License-Identifier: Apache-2.0
"""The checkout's apex, and amp as a fresh process finds it: no test sees the casts of another."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "adapters/apex"))
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def fresh_amp():
    from apex.amp import patch
    from apex.amp.state import STATE

    yield
    patch.undo()
    patch._registered.clear()
    STATE.__init__()
