# SPDX-License-Identifier: Apache-2.0
"""The command under test: that of ANYNPU_MIGRATE, else the one just built, else the installed one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAME = "anynpu-migrate"


def path():
    named = os.environ.get("ANYNPU_MIGRATE")
    beside = Path(sys.executable).parent / NAME
    for found in [Path(named)] if named else [ROOT / "build/bin" / NAME, beside, Path(shutil.which(NAME) or beside)]:
        if found.is_file():
            return found
    looked = f"ANYNPU_MIGRATE={named}" if named else f"build/bin, {beside.parent} and PATH"
    pytest.fail(f"there is no {NAME} ({looked}); build it with: ninja -C build bin/{NAME}", pytrace=False)


def migrate(*arguments, folder):
    """Runs it in `folder` with nothing on stdin; its errors are in stdout too."""
    command = [str(path()), *map(str, arguments)]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run(command, cwd=folder, text=True, timeout=60, **streams)
