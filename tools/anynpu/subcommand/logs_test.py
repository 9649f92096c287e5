# SPDX-License-Identifier: Apache-2.0
import json
import os
import resource
import select
import signal
import subprocess
import sys

import pytest

from anynpu.command_test import TOOLS, anynpu
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


def test_more_files_than_a_process_may_open_are_merged(tmp_path):
    (tmp_path / "debug/plog").mkdir(parents=True)
    for pid in range(300):
        rows = line("INFO", pid, pid % 60, f"first {pid}") + line(
            "INFO", pid, 59, f"long {'x' * pid * 100}\nlast {pid}"
        )
        (tmp_path / f"debug/plog/plog-{pid}_20260501120001000.log").write_text(rows)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, limit[1]))
    try:
        code, out, err = logs(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    shown = texts(out)
    assert code == 0 and err == ""
    assert sorted(shown) == sorted(f"{word} {pid}" for word in ("first", "last") for pid in range(300)) + sorted(
        f"long {'x' * pid * 100}" for pid in range(300)
    )
    assert sorted(shown[:5]) == sorted(f"first {pid}" for pid in range(0, 300, 60))


class Follower:
    """`anynpu logs --follow` in a process of its own."""

    def __init__(self, root, *arguments):
        call = "import sys; from anynpu.command import main; sys.exit(main())"
        self.process = subprocess.Popen(
            [sys.executable, "-c", call, "logs", "--follow", *arguments], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(TOOLS), "ASCEND_PROCESS_LOG_PATH": str(root)},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # fmt: skip
        # What a shell runs in the background ignores the interrupt, and so do its children.

    def first_of(self, write):
        """What is shown first of what write(0), write(1), … add: nobody tells when it has begun to look."""
        for turn in range(600):
            write(turn)
            if select.select([self.process.stdout], [], [], 0.2)[0]:
                return self.process.stdout.readline()
        raise AssertionError("nothing was shown")

    def row(self):
        return self.process.stdout.readline().rstrip("\n").split(": ", 1)[-1]

    def until(self, text):
        while (row := self.row()) != text:
            assert row
            yield row

    def end(self):
        self.process.send_signal(signal.SIGINT)
        rest = self.process.stdout.read()
        return self.process.wait(), rest


def add(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as stream:
        stream.write(text)


def test_follow_shows_what_is_added_and_ends_with_the_interrupt(root):
    follower = Follower(root)
    old, new = root / "debug/plog/plog-1_20260501120001000.log", root / "debug/plog/plog-3_20260501120009000.log"
    assert ": added " in follower.first_of(lambda turn: add(old, line("INFO", 1, 5, f"added {turn}")))
    add(old, line("INFO", 1, 6, "half a line")[:-5])
    add(new, line("ERROR", 3, 7, "of a new process\nin two rows"))
    add(root / "run/plog" / new.name, line("ERROR", 3, 7, "of a new process\nin two rows"))
    shown = list(follower.until("in two rows"))
    assert shown[-1] == "of a new process" and all(row.startswith("added ") for row in shown[:-1])
    add(old, "line\n")
    assert follower.row() == "half a line"
    code, rest = follower.end()
    assert (code, rest) == (0, "")


def test_follow_chooses_as_without_it(root):
    follower = Follower(root, "--errors", "--json", "--pid", "1")
    file, other = "debug/plog/plog-1_20260501120001000.log", "debug/plog/plog-2_20260501120001000.log"

    def write(turn):
        add(root / other, line("ERROR", 2, 5, "another process"))
        add(root / file, line("INFO", 1, 5, "no error") + line("ERROR", 1, 6, f"an error {turn}"))

    first = json.loads(follower.first_of(write))
    assert (first["pid"], first["level"]) == (1, "ERROR") and first["text"].startswith("1 run: an error ")
    assert follower.end()[0] == 0


def test_follow_does_not_export_nothing(tmp_path):
    code, _, err = logs(tmp_path / "nowhere", "export", "--follow", "-o", str(tmp_path))
    assert code == 1 and "there is no log" in err


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
