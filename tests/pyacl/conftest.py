# SPDX-License-Identifier: Apache-2.0
"""The module `acl` of the build folder where there is one, else the installed one."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILT = ROOT / "build/pyacl"
PATHS = [
    str(HERE),
    str(ROOT / "tools"),
    str(ROOT / "adapters/pyacl/generate"),
    *([str(BUILT)] if BUILT.is_dir() else []),
]
sys.path[:0] = PATHS


@pytest.fixture(scope="session")
def script():
    """Runs Python code, or a file, in a process of its own; gives what subprocess.run gives."""

    def run(code, *arguments, **environment):
        command = [sys.executable, *([code] if isinstance(code, pathlib.Path) else ["-c", code]), *arguments]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(PATHS), **environment}
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)

    return run
