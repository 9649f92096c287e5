# SPDX-License-Identifier: Apache-2.0
"""The command as a user types it: help, version, errors with a cure."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from anynpu.command import COMMANDS

TOOLS = Path(__file__).resolve().parents[1]


def anynpu(*arguments, program="anynpu.command", **environment):
    """Runs the command in a fresh process; returns (exit code, stdout, stderr)."""
    import os

    env = {**os.environ, "PYTHONPATH": str(TOOLS), **environment}
    call = f"import sys; from {program} import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", call, *arguments], capture_output=True, text=True, env=env, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


def test_version():
    code, out, _ = anynpu("--version")
    assert code == 0 and re.match(r"anynpu \d+", out)


def test_help_lists_every_command_with_a_sentence():
    code, out, _ = anynpu("--help")
    assert code == 0
    for name in COMMANDS:
        assert re.search(rf"^    {name}\s+\w", out, re.MULTILINE), name


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command(name):
    code, out, _ = anynpu(name, "--help")
    assert code == 0 and len(out.splitlines()) > 5


def test_an_unknown_command_names_the_known_ones():
    code, _, err = anynpu("trian")
    assert code == 2 and "'run'" in err


def test_a_missing_library_ends_with_its_cure():
    code, _, err = anynpu("ops", ANYNPU_LIBRARY="/nowhere/libanynpu.so")
    assert code == 1
    assert err == "anynpu ops: libanynpu.so is not in /nowhere; install AnyNPU with: pip install .\n"
