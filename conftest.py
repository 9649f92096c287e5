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
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/support")]
for name in [name for name in sys.modules if name.split(".")[0] == "anynpu"]:
    del sys.modules[name]  # an installed copy's hook is already there
os.environ.setdefault("TUNE_BANK_PATH", str(ROOT / "build/no_tuning_bank"))  # not the user's
os.environ.setdefault("ANYNPU_COMPILE_CACHE", "disable")  # a test is of what is there now, and writes nothing at home
if (ROOT / "build/lib/libanynpu.so").exists():
    os.environ["ANYNPU_LIBRARY"] = str(ROOT / "build/lib/libanynpu.so")
import folders  # noqa: E402
import python_process  # noqa: E402

python_process.install()
UNTIL = float(os.environ.pop("ANYNPU_TESTS_UNTIL", "inf"))
TIMES = os.environ.pop("ANYNPU_TEST_TIMES", None)  # a file to which each test adds a line; read by tests/slowest.py
late = []


def spent():
    """Seconds of the clock, of this process's CPU time, and of its children's; processes forked for tests."""
    now = os.times()
    children = now.children_user + now.children_system + python_process.used["seconds"]
    return time.monotonic(), now.user + now.system, children, python_process.used["forks"]


def pytest_cmdline_main(config):
    return folders.run(config)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    before = spent()
    result = yield
    if TIMES:
        passed = "\t".join(f"{now - then:.2f}" for now, then in zip(spent(), before, strict=True))
        with open(TIMES, "a", encoding="utf-8") as file:
            file.write(f"{passed}\t{item.nodeid}\n")
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if time.time() > UNTIL:
        late.append(item)
        pytest.skip("the time of this run is over")


def pytest_terminal_summary(terminalreporter):
    if late:
        terminalreporter.write_line(f"left out, since the time of this run was over: {len(late)} tests")
