# SPDX-License-Identifier: Apache-2.0
"""The command around a script that leaves records without any NPU."""

import re
import shutil
import subprocess

import pytest

from anynpu.command_test import anynpu
from anynpu.library import place

# Two operators with a pause between them, in a folder that the variable names; the layout is device/trace/record.h.
SCRIPT = """
import json, os, pathlib, struct, sys
options = json.loads(os.environ["PROFILING_OPTIONS"])
assert os.environ["PROFILING_MODE"] == "true" and options["task_time"] == "l1" and options["runtime_api"] == "on"
for device in range(int(sys.argv[1])):
    folder = pathlib.Path(options["output"], f"PROF_000001_{device}")
    for data in ("host/data", f"device_{device}/data"):
        (folder / data).mkdir(parents=True)
    (folder / "host/info.json").write_text(json.dumps({"pid": str(device + 70), "anynpu_format": 1}))
    begin = {"collectionTimeBegin": "1700000000000000", "clockMonotonicRaw": "5000"}
    (folder / "host/start_info").write_text(json.dumps(begin))
    (folder / "host/data/anynpu.texts").write_bytes(struct.pack("<I3s", 3, b"Add"))
    tasks = [(10**6, 2 * 10**6), (9 * 10**6, 10**7)]
    records = [struct.pack("<qqqQQiiIIIIIIIIqQ", *times, times[0], 1, 0, 1, device, 7, 2, 1, 1, 0, 0, 0, 0, 0, 0)
               for times in tasks]
    (folder / f"device_{device}/data/anynpu.tasks").write_bytes(b"".join(records))
print("the script's own line")
raise SystemExit(int(sys.argv[2]))
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


def test_the_page_follows_what_the_script_prints(script, tmp_path):
    code, out, err = anynpu("profile", "--output", str(tmp_path / "out"), str(script), "1", "0")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[:2] == ["the script's own line", ""] and lines[2].startswith("FINDINGS")
    assert lines[3] == "  1. the device waits for data: the host makes no call to the NPU"
    page = tmp_path / "out/profile.html"
    assert f"The same with a timeline: {page}" in lines and page.read_text().startswith("<!DOCTYPE html>")
    assert lines[-1] == f"The records: {tmp_path / 'out/PROF_000001_0'}"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_script_of_the_page_is_one(script, tmp_path):
    anynpu("profile", "--output", str(tmp_path / "out"), str(script), "1", "0")
    page = (tmp_path / "out/profile.html").read_text()
    code = tmp_path / "page.js"
    code.write_text(re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1])
    done = subprocess.run(["node", "--check", str(code)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_modules_and_marks_are_asked_for(tmp_path):
    path = tmp_path / "asks.py"
    path.write_text("import os; print(os.environ['ANYNPU_MODULES'], os.environ['PROFILING_OPTIONS'])")
    for words, modules in (([], "1"), (["--no-modules"], "0")):
        _, out, _ = anynpu("profile", "--output", str(tmp_path / "out"), *words, str(path))
        assert out.startswith(f"{modules} ") and '"msproftx": "on"' in out


def test_socs_are_named_to_the_program(script, tmp_path):
    output = tmp_path / "out"
    _, out, _ = anynpu("profile", "--output", str(output), "--soc", "910B3", str(script), "1", "0")
    assert "CHIP TIME of NPU 0, process 70: modelled, not measured" in out and "have no shapes" in out
    for words in (["show", str(output), "--soc", "310P3"], ["--soc", "310P3", "show", str(output)]):
        code, out, err = anynpu("profile", *words)
        assert code == 0 and "CHIP TIME" in out, err


def test_the_exit_code_is_the_scripts(script, tmp_path):
    code, out, _ = anynpu("profile", "--output", str(tmp_path / "out"), str(script), "1", "7")
    assert code == 7 and "FINDINGS" in out


def test_a_signal_is_for_the_script(tmp_path):
    path = tmp_path / "waits.py"
    path.write_text("import os, signal, time\nos.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(60)")
    code, _, err = anynpu("profile", "--output", str(tmp_path), str(path))
    assert (code, err) == (143, "anynpu profile: nothing was recorded: the script has used no NPU\n")


def test_several_processes_are_one_page(script, tmp_path):
    _, out, _ = anynpu("profile", "--output", str(tmp_path / "out"), str(script), "2", "0")
    assert "NPU 0, process 70" in out and "NPU 1, process 71" in out


def test_what_was_there_before_is_not_shown(script, tmp_path):
    output = tmp_path / "out"
    (output / "PROF_older").mkdir(parents=True)
    code, out, _ = anynpu("profile", "--output", str(output), str(script), "1", "0")
    assert code == 0 and "older" not in out


def test_a_script_without_an_npu(tmp_path):
    path = tmp_path / "plain.py"
    path.write_text("raise SystemExit(3)")
    code, out, err = anynpu("profile", "--output", str(tmp_path), str(path))
    assert (code, out) == (3, "")
    assert err == "anynpu profile: nothing was recorded: the script has used no NPU\n"


def test_records_that_are_there_are_shown_and_compared(script, tmp_path):
    output = tmp_path / "out"
    anynpu("profile", "--output", str(output), str(script), "2", "0")
    code, out, _ = anynpu("profile", "show", str(output / "PROF_000001_1"))
    assert code == 0 and "NPU 1, process 71" in out and "NPU 0" not in out
    code, out, _ = anynpu("profile", "diff", str(output / "PROF_000001_0"), str(output / "PROF_000001_1"))
    assert code == 0 and out.startswith("B takes 9.000 ms, A 9.000 ms (+0.0 %)")
    code, _, err = anynpu("profile", "diff", str(output), "/nowhere")
    assert code == 1 and err.startswith("anynpu profile: /nowhere is no folder")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nowhere.py"], "there is no file nowhere.py; give the path of a Python script"),
        (["-m", "-n", "2", "module"], "-m and -n exclude each other: ranks run a script; give its file"),
    ],
)
def test_what_makes_no_sense_is_told(arguments, reason):
    code, _, err = anynpu("profile", *arguments)
    assert (code, err) == (1, f"anynpu profile: {reason}\n")


def test_the_program_is_beside_the_others():
    assert place.pages_of_profiles().name == "anynpu-profile"
