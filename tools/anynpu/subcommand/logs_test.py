# SPDX-License-Identifier: Apache-2.0
import json
import os
import signal
import subprocess
import sys

import pytest

from anynpu.command_test import anynpu
from anynpu.library import place


def line(level, pid, second, text):
    return f"[{level}] OP({pid},python):2026-05-01-12:00:{second:02}.123.456 [ops/a.cpp:7]{pid} run: {text}\n"


@pytest.fixture
def root(tmp_path):
    early, late = line("ERROR", 1, 1, "early\nsecond row"), line("ERROR", 2, 3, "late")
    for folder, name, text in (
        ("debug/plog", "plog-1_20260501120001000.log", early + line("INFO", 1, 4, "after")),
        ("run/plog", "plog-1_20260501120001000.log", early),
        ("debug/device-0", "device-2_20260501120003000.log", late),
        ("run/device-0", "device-2_20260501120003000.log", late),
        ("debug/plog", "notes.txt", "no log"),
    ):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / name).write_text(text)
    return tmp_path


def logs(root, *arguments):
    return anynpu("logs", *arguments, ASCEND_PROCESS_LOG_PATH=str(root))


def texts(out):
    return [row.split(": ", 1)[-1] for row in out.splitlines()]


def test_lines_of_all_processes_in_the_order_of_time_and_errors_once(root):
    assert texts(logs(root)[1]) == ["early", "second row", "late", "after"]


def test_what_is_shown_can_be_chosen(root):
    assert texts(logs(root, "--last")[1]) == ["late"]
    assert texts(logs(root, "--pid", "1", "--errors")[1]) == ["early", "second row"]


def test_json_has_the_parts_of_a_line(root):
    first = json.loads(logs(root, "--json")[1].splitlines()[0])
    assert (first["level"], first["module"], first["pid"], first["process"]) == ("ERROR", "OP", 1, "python")
    assert (first["file"], first["line"], first["text"]) == ("ops/a.cpp", 7, "1 run: early\nsecond row")


def test_export_copies_the_files_and_gathers_the_errors(root, tmp_path):
    code, out, _ = logs(root, "export", "-o", str(tmp_path / "out"))
    assert code == 0 and out.startswith("4 log files are in ")
    (target,) = (tmp_path / "out").iterdir()
    assert (target / "slog/run/device-0/device-2_20260501120003000.log").read_text() == line("ERROR", 2, 3, "late")
    assert texts((target / "message/errors.txt").read_text()) == ["early", "second row", "late"]


def test_where_there_is_no_log_it_says_where_it_looked(tmp_path):
    code, out, err = logs(tmp_path / "nowhere")
    assert (code, out) == (1, "") and str(tmp_path / "nowhere") in err and "ASCEND_GLOBAL_LOG_LEVEL" in err
    assert "process 9" in logs(tmp_path, "--pid", "9")[2]


CRASH = """
import ctypes, faulthandler, sys
if sys.argv[2] == "before": faulthandler.enable()
library = ctypes.CDLL(sys.argv[1])
library.aclrtSetDevice(0)
if sys.argv[2] == "after": faulthandler.enable()
ctypes.string_at(0)
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_leaves_pythons_faulthandler_and_the_log(when, tmp_path):
    command = [sys.executable, "-c", CRASH, place.libraries() / place.CORE, when]
    variables = {"ASCEND_PROCESS_LOG_PATH": str(tmp_path), "ASCEND_GLOBAL_LOG_LEVEL": "1"}
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == -signal.SIGSEGV and "string_at" in done.stderr, done.stderr
    assert "DRV(" in logs(tmp_path)[1]
