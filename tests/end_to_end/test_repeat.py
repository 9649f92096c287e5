# SPDX-License-Identifier: Apache-2.0
"""anynpu run --repeat names the first operator that is not the same in each run, and its line; anynpu dump digest
compares what two runs have left."""

import os
import re
import subprocess
import sys
from pathlib import Path

import anynpu_run
import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
COMMAND = "import sys; from anynpu.command import main; sys.exit(main())"

TRAINING = """import time, torch
torch.manual_seed(0)
model = torch.nn.Linear(8, 8).npu()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    optimizer.zero_grad()
    hidden = torch.nn.functional.dropout(model(torch.ones(4, 8).npu()), 0.5)
    hidden.square().mean().backward()
    optimizer.step()
time.sleep(0.5)  # torch's own threads may abort an interpreter that ends right behind a backward (docs/pytorch.md)
"""
UNSEEDED = """import torch
x = torch.ones(64).npu() * 2
torch.nn.functional.dropout(x, 0.5).sum().item()
"""
OF_THE_HOST = """import os, torch
x = torch.ones(64).npu() * 2
y = torch.full((64,), float(os.getpid())).npu()
(torch.exp(x) + y).sum().item()
"""


@pytest.fixture
def anynpu(tmp_path):
    def run(*arguments):
        env = {**os.environ, "PYTHONPATH": f"{TOOLS}:{os.environ.get('PYTHONPATH', '')}"}
        return subprocess.run([sys.executable, "-c", COMMAND, *map(str, arguments)], env=env, capture_output=True,
                              text=True)  # fmt: skip

    return run


@pytest.fixture
def repeated(tmp_path, capfd):
    def run(text):
        script = tmp_path / "train.py"
        script.write_text(text)
        done = anynpu_run.run_repeatedly(capfd, "--repeat", "2", script)
        lines = [line for line in done.stderr.splitlines() if line.startswith("anynpu run --repeat: ")]
        return done.returncode, lines[-1].removeprefix("anynpu run --repeat: ").replace(str(script), "train.py")

    return run


def test_a_training_that_is_the_same_each_time(repeated):
    code, told = repeated(TRAINING)
    assert code == 0
    assert int(re.fullmatch(r"2 runs had equal bits in all (\d+) operators", told)[1]) > 20


def test_a_seed_that_is_drawn_anew_is_told_with_its_line(repeated):
    code, told = repeated(UNSEEDED)
    assert code == 1
    assert told.startswith("aclnnDropoutGenMaskV2 was called with other parameters: a number or a seed that")
    assert told.endswith("; called at train.py:3")


def test_data_of_the_host_are_told_as_such(repeated):
    code, told = repeated(OF_THE_HOST)
    assert code == 1
    assert told.startswith(
        "aclnnAdd was given something else: argument number 2 of 2, which no operator before it made"
    )
    assert told.endswith("; called at train.py:4")


def test_digests_of_two_settings_are_compared(anynpu, tmp_path, monkeypatch):
    script = tmp_path / "train.py"
    script.write_text("import os, torch\nx = torch.ones(8).npu()\n(x * float(os.environ['BY'])).sum().item()\n")
    for by in ("2", "3"):
        (tmp_path / by).mkdir()
        monkeypatch.setenv("BY", by)
        assert anynpu_run.run("--digest", tmp_path / by, script).returncode == 0
    same = anynpu("dump", "digest", tmp_path / "2", tmp_path / "2")
    assert same.returncode == 0 and same.stdout == "equal bits in all 2 operators\n"
    other = anynpu("dump", "digest", tmp_path / "2" / "run.digest", tmp_path / "3" / "run.digest")
    assert other.returncode == 1 and "; 2 of 2 operators differ" in other.stdout
    assert "which no operator before it made" in other.stdout or "was called with other parameters" in other.stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nowhere", "nowhere"], "nowhere is not there."),
        (["."], "digest takes the files or the folders of two runs"),
        (["empty", "empty"], "empty holds no file of digests (*.digest)."),
        (["file", "file"], "it does not begin like a file of digests"),
        (["file", "empty"], "file and empty are a file and a folder."),
    ],
)
def test_what_cannot_be_compared_is_refused(anynpu, tmp_path, monkeypatch, arguments, reason):
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    Path("file").write_text("no digests")
    done = anynpu("dump", "digest", *arguments)
    assert done.returncode > 1 and reason in done.stderr and not done.stdout
