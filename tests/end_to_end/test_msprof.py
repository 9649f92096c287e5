# SPDX-License-Identifier: Apache-2.0
"""msprof as the one who collects: it starts a program, or speaks with one that runs."""

import csv
import os
import subprocess
import sys
import time

import pytest
from anynpu.library import place

MSPROF = str(place.home() / "tools/profiler/bin/msprof")

# Works until it is told to end.
PROGRAM = """
import pathlib, sys, time, torch, torch_npu
x = torch.randn(16, 16, device="npu")
end = pathlib.Path(sys.argv[1])
for _ in range(int(sys.argv[2])):
    torch.nn.functional.gelu(x @ x)
    torch.npu.synchronize()
    if end.exists():
        break
    time.sleep(0.05)
print("ended by itself")
"""


def rows(folder, name):
    (file,) = folder.rglob(f"{name}_2*.csv")
    with open(file, newline="") as lines:
        return list(csv.DictReader(lines))


def program(folder, turns):
    return [sys.executable, "-c", PROGRAM, str(folder / "end"), str(turns)]


@pytest.mark.promise("msprof records a program that it starts, and makes its tables")
def test_a_program_is_started_recorded_and_exported(tmp_path):
    done = subprocess.run(
        [MSPROF, f"--output={tmp_path / 'out'}", *program(tmp_path, 3)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0 and "ended by itself" in done.stdout, done.stderr
    types = [row["OP Type"] for row in rows(tmp_path / "out", "op_summary")]
    assert types.count("Gelu") == 3 and types.count("MatMulV2") == 3, types
    assert all(float(row["memory(KB)"]) > 0 for row in rows(tmp_path / "out", "npu_mem"))


@pytest.mark.promise("msprof --dynamic begins and ends records of a process that runs")
def test_a_process_that_runs_is_recorded_between_start_and_stop(tmp_path):
    environment = os.environ | {"PROFILING_MODE": "dynamic"}
    running = subprocess.Popen(program(tmp_path, 10_000), env=environment, stdout=subprocess.PIPE, text=True)
    words = [MSPROF, "--dynamic=on", f"--pid={running.pid}", f"--output={tmp_path / 'out'}"]
    face = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        begun = begin(face)
        assert "recording" in begun, begun
        time.sleep(0.5)
        told, _ = face.communicate("stop\nquit\n", timeout=60)
    finally:
        (tmp_path / "end").touch()
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0 and "ended by itself" in out
    assert "recorded" in told and face.returncode == 0, told
    turns = [row for row in rows(tmp_path / "out", "op_summary") if row["OP Type"] == "Gelu"]
    assert 1 <= len(turns) < 100, "only what ran between start and stop"


def begin(face):
    """What msprof answers once the process listens."""
    for _ in range(600):
        face.stdin.write("start\n")
        face.stdin.flush()
        line = face.stdout.readline()
        if "does not listen" not in line:
            return line
        time.sleep(0.1)
    return line


def test_records_begin_late_and_end_early(tmp_path):
    words = [MSPROF, f"--output={tmp_path / 'out'}", "--duration=1", "--msproftx=on", *program(tmp_path, 60)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "ended by itself" in done.stdout, done.stderr
    turns = [row for row in rows(tmp_path / "out", "op_summary") if row["OP Type"] == "Gelu"]
    assert 1 <= len(turns) < 40, f"{len(turns)} of 60 turns of 50 ms in a second"
