# SPDX-License-Identifier: Apache-2.0
"""The command as a user types it: help, version, errors with a cure."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from anynpu.command import COMMANDS

TOOLS = Path(__file__).resolve().parents[1]


def anynpu(*arguments, program="anynpu.command", **environment):
    """Runs the command in a fresh process; returns (exit code, stdout, stderr)."""
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
def test_help_of_each_command_on_a_stream_of_ascii(name):
    code, out, err = anynpu(name, "--help", PYTHONIOENCODING="ascii")
    assert code == 0 and out.isascii() and "Error" not in err, err


@pytest.mark.parametrize("arguments", [["info"], ["top"]])
def test_npus_on_a_stream_of_ascii(arguments):
    code, out, err = anynpu("smi", *arguments, PYTHONIOENCODING="ascii")
    assert code == 0 and out.isascii() and err == ""


def test_a_name_that_a_stream_cannot_take_appears_as_python_writes_it():
    code, _, err = anynpu("run", "nach t\xe4glich.py", PYTHONIOENCODING="ascii")
    assert code == 1 and "there is no file nach t\\xe4glich.py" in err


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


def unread(*arguments, program="anynpu.command"):
    """(exit code, stderr) of a command whose output nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    call = f"import sys; from {program} import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", call, *arguments], stdout=writer, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": str(TOOLS)}, timeout=120)  # fmt: skip
    os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "command",
    ["env", "env --unset", "doctor", "ops", "settings", "precision", "collectives", "smi info"],
)
def test_a_reader_that_leaves_is_no_error(command):
    assert unread(*command.split()) == (141, "")


@pytest.mark.parametrize(
    "command", ["--help", "smi --help", "migrate --explain all", "migrate --help", "migrate - --diff"]
)
def test_nor_is_it_with_help_and_the_migration(command):
    """argparse says nothing by itself; the migration is a program of its own."""
    code, err = unread(*command.split())
    assert code in (0, 141) and err == ""


def test_nor_is_it_in_the_middle_of_a_migration(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import torch\nx = torch.ones(2).cuda()\n")
    code, err = unread("migrate", str(script), "--diff")
    assert code == 141 and "1 of 1 file would change" in err and "pipe" not in err and "stdout" not in err


@pytest.mark.parametrize(
    ("program", "command"),
    [("anynpu.subcommand.smi", "info"), ("anynpu.subcommand.smi", "info watch"), ("anynpu.msnpureport", "-e disable")],
)
def test_a_reader_of_the_vendors_commands_that_leaves_is_no_error(program, command):
    assert unread(*command.split(), program=program) == (141, "")
