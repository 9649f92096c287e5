# SPDX-License-Identifier: Apache-2.0
"""anynpu run --self-check: nothing is told of what is right, bits stay, and a case that it saves runs again."""

import os
import re
from pathlib import Path

import anynpu_run
import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
HERE = Path(__file__).resolve().parent
# torch's own threads may abort an interpreter that ends right behind a backward (docs/pytorch.md), hence the last line.
SCRIPT = f"""import atexit, os, sys
sys.path.insert(0, {str(HERE)!r})
import models, torch
import torch.nn.functional as F
model, batches = models.make(sys.argv[1])
model = model.npu()
optimizer = models.OPTIMIZERS["adam"](model.parameters())
for x, y in batches[:2]:
    with torch.autocast("npu", dtype=torch.bfloat16, enabled=len(sys.argv) > 2):
        loss = F.cross_entropy(model(x.npu()), y.npu())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item().hex(), flush=True)
atexit._run_exitfuncs(); os._exit(0)
"""


@pytest.fixture
def run(tmp_path):
    def run(*arguments, options=("--self-check",)):
        script = tmp_path / "train.py"
        script.write_text(SCRIPT)
        cases = {"ANYNPU_SELF_CHECK_CASES": str(tmp_path)}
        env = {**os.environ, **cases, "PYTHONPATH": f"{TOOLS}:{os.environ.get('PYTHONPATH', '')}"}
        ended = anynpu_run.run(*options, script, *arguments, env=env, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        told = [line for line in ended.stderr.splitlines() if line.startswith("anynpu run --self-check: ")]
        return ended.stdout, [line.removeprefix("anynpu run --self-check: ") for line in told]

    return run


def share(line):
    return float(line.split("(")[1].split(" %")[0])


@pytest.mark.parametrize("model", ["resnet18", "encoder", "gpt"])
@pytest.mark.parametrize("precision", [[], ["bf16"]])
def test_what_is_right_is_not_named_and_nearly_all_is_checked(run, model, precision):
    _, told = run(model, *precision)
    assert told[0].endswith("0 kinds of operators deviated"), told
    assert share(told[0]) >= 95


def test_bits_do_not_change(run):
    assert run("mlp")[0] == run("mlp", options=())[0]


def test_a_sample_is_told_as_one(run):
    _, told = run("mlp", options=("--self-check", "--self-check-sample", "5"))
    assert "left out by --self-check-sample" in told[1]


def test_each_rank_tells_its_own_and_which_it_is():
    script = HERE.parent / "planted/script/ranks.py"
    env = {**os.environ, "PYTHONPATH": f"{TOOLS}:{os.environ.get('PYTHONPATH', '')}"}
    for rank, (code, text) in enumerate(anynpu_run.run_ranks(2, "--self-check", script, "none", env=env)):
        assert code == 0, text
        (end,) = re.findall(r"^anynpu run --self-check \((.*?)\): .* checked .*, (\d+) kinds", text, re.M)
        assert end == (f"rank{rank}", "0"), text
