# SPDX-License-Identifier: Apache-2.0
"""Tests look at the checkout: its Python sources and the library it has just built, not an older installed copy. Where
ANYNPU_TESTS_UNTIL (seconds of the epoch) is set, tests that have not begun by then are left out, and the summary says
so."""

import os
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))
for name in [name for name in sys.modules if name.split(".")[0] == "anynpu"]:
    del sys.modules[name]  # an installed copy's hook is already there
os.environ.setdefault("TUNE_BANK_PATH", str(ROOT / "build/no_tuning_bank"))  # not the user's
os.environ.setdefault("ANYNPU_COMPILE_CACHE", "disable")  # a test is of what is there now, and writes nothing at home
if (ROOT / "build/lib/libanynpu.so").exists():
    os.environ["ANYNPU_LIBRARY"] = str(ROOT / "build/lib/libanynpu.so")
UNTIL = float(os.environ.pop("ANYNPU_TESTS_UNTIL", "inf"))
late = []


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if time.time() > UNTIL:
        late.append(item)
        pytest.skip("the time of this run is over")


def pytest_terminal_summary(terminalreporter):
    if late:
        terminalreporter.write_line(f"left out, since the time of this run was over: {len(late)} tests")
