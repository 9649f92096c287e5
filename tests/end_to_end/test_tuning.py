# SPDX-License-Identifier: Apache-2.0
"""AOE_MODE on a PyTorch script: what wins is kept, also where the process is killed, and by several at once."""

import json
import os
import signal
import subprocess
import sys

import pytest

SCRIPT = """
import sys, time
import torch, torch_npu
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 256, 64)).npu()
x = torch.randn(8, 16, 16, 16).npu()
for _ in range(2):
    loss = model(x).square().mean()
    loss.backward()
print("loss", loss.item(), flush=True)
if len(sys.argv) > 1:
    time.sleep(600)
"""


def start(folder, *arguments, **variables):
    path = folder / "script.py"
    path.write_text(SCRIPT)
    variables = {"TUNE_BANK_PATH": str(folder / "bank"), **variables}
    return subprocess.Popen([sys.executable, str(path), *arguments], cwd=folder, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env={**os.environ, **variables})  # fmt: skip


def run(folder, **variables):
    """(loss, lines of AOE)"""
    child = start(folder, **variables)
    out, err = child.communicate(timeout=300)
    assert child.returncode == 0, err
    (loss,) = [line for line in out.splitlines() if line.startswith("loss")]
    return float(loss.split()[1]), [line for line in out.splitlines() if line.startswith("[Aoe]")]


def entries(folder):
    (file,) = (folder / "bank/custom/op").glob("*/*.json")
    return json.loads(file.read_text())["entries"]


def test_what_is_tuned_stays(tmp_path):
    loss, said = run(tmp_path)
    assert said == [] and not (tmp_path / "bank").exists()
    tuned, said = run(tmp_path, AOE_MODE="2")
    assert tuned == pytest.approx(loss, rel=1e-5)
    assert said[0].startswith("[Aoe] tuning of operators begins") and len(list(tmp_path.glob("aoe_result_opat_*"))) == 1
    assert {"conv_way"} <= {entry["point"] for entry in entries(tmp_path)}
    again, said = run(tmp_path)
    assert again == pytest.approx(loss, rel=1e-5) and said == []
    assert again == run(tmp_path, ANYNPU_THREADS="1")[0]


@pytest.mark.promise("A bank of tuned choices survives kills, several processes at once and damage")
def test_a_killed_process_leaves_what_it_has_learnt(tmp_path):
    child = start(tmp_path, "wait", AOE_MODE="2")
    while not (line := child.stdout.readline()).startswith("loss"):
        assert line, child.communicate()[1]
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert entries(tmp_path)
    run(tmp_path)


def test_processes_that_tune_at_once_share_a_bank(tmp_path):
    children = [start(tmp_path, AOE_MODE="2") for _ in range(3)]
    for child in children:
        assert child.wait(timeout=300) == 0, child.communicate()[1]
    keys = [(entry["point"], entry["key"]) for entry in entries(tmp_path)]
    assert keys and len(set(keys)) == len(keys)


def test_a_damaged_bank_is_told_and_the_run_is_right(tmp_path):
    loss, _ = run(tmp_path, AOE_MODE="2")
    (file,) = (tmp_path / "bank/custom/op").glob("*/*.json")
    file.write_text(file.read_text()[:-40])
    child = start(tmp_path)
    out, err = child.communicate(timeout=300)
    assert child.returncode == 0 and f"loss {loss}"[:9] == out[:9]
    assert err.count("is no bank of tuned choices") == 1 and "nothing tuned is used" in err


def test_a_mode_that_is_none_is_told_once(tmp_path):
    child = start(tmp_path, AOE_MODE="7")
    _, err = child.communicate(timeout=300)
    assert child.returncode == 0 and err.count("AOE_MODE=7: 7 is no job of tuning") == 1
