# SPDX-License-Identifier: Apache-2.0
"""anynpu run --nan-check names the operator that made the first infinity or NaN, and no other."""

import os
from pathlib import Path

import anynpu_run
import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
NONE = "no operator made an infinity or NaN of finite inputs"
# torch's own threads may abort an interpreter that ends right behind a backward (docs/pytorch.md)
LEAVE = "import atexit, os; atexit._run_exitfuncs(); os._exit(0)"

LOG_OF_0 = """import torch
def loss(x):
    return torch.log(x).mean()
x = torch.tensor([1.0, 0.0, 2.0]).npu()
print((loss(x) * 0).item())
"""
OVERFLOW_IN_ATTENTION = """import torch
q = torch.full((2, 64, 64), 100.0).npu().half()
for scale in (0.01, 1.0):
    scores = torch.matmul(q * scale, q.transpose(1, 2))
    weights = torch.softmax(scores, -1)
torch.matmul(weights, q).sum().item()
"""
NOTHING_BY_NOTHING = """import torch
x = torch.zeros(300, 300).npu()
norm = x.norm()
y = x / norm
(y @ y).sum().item()
"""
ALL_MASKED = """import torch
x = torch.randn(2, 4).npu()
hidden = torch.tensor([[False] * 3 + [True], [True] * 4]).npu()
scores = x.masked_fill(hidden, float("-inf"))
torch.softmax(scores, -1).sum().item()
"""
# Infinities that a program asks for, and what is right to do with them.
MASKS = f"""import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(2, 4, 8).npu().requires_grad_()
future = torch.triu(torch.full((4, 4), float("-inf")), diagonal=1).npu()
made_there = torch.triu(torch.full((4, 4), float("-inf"), device="npu"), diagonal=1)
hidden = torch.ones(4, 4, dtype=torch.bool).triu(1).npu()
scores = x @ x.transpose(1, 2)
for masked in (scores + future, scores + made_there, scores.masked_fill(hidden, float("-inf")),
               torch.where(hidden, float("-inf"), scores),
               torch.where(hidden, torch.tensor(float("-inf")).npu(), scores)):
    torch.softmax(masked, -1).sum().backward(retain_graph=True)
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).npu()
layer(x, src_mask=nn.Transformer.generate_square_subsequent_mask(4).npu()).sum().backward()
x.detach().clamp(max=float("inf")).fill_(float("nan")).nan_to_num().sum().item()
torch.topk(scores.masked_fill(hidden, float("-inf")), 2).values.sum().item()
torch.optim.Adam(layer.parameters()).step()
{LEAVE}
"""
GRADIENT_OF_A_ROOT = f"""import torch
x = torch.zeros(3).npu().requires_grad_()
y = torch.sqrt(x).sum()
y.backward()
z = torch.log(x.detach())
{LEAVE}
"""
IN_A_THREAD = """import threading, torch
def work():
    torch.log(torch.zeros(2).npu())
thread = threading.Thread(target=work)
thread.start(); thread.join()
"""


@pytest.fixture
def check(tmp_path):
    def run(text, *options):
        script = tmp_path / "train.py"
        script.write_text(text)
        path = f"{TOOLS}:{os.environ.get('PYTHONPATH', '')}"
        env = {**os.environ, "PYTHONPATH": path}
        ended = anynpu_run.run(*(options or ["--nan-check"]), script, env=env, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        told = [line for line in ended.stderr.splitlines() if line.startswith("anynpu run --nan-check: ")]
        return [line.removeprefix("anynpu run --nan-check: ").replace(str(script), "train.py") for line in told]

    return run


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (LOG_OF_0, "aclnnLog made 1 infinity of finite inputs: output out float32[3], at train.py:3"),
        (NOTHING_BY_NOTHING, "aclnnDiv made 90000 NaN of finite inputs: output out float32[300x300], at train.py:4"),
        (ALL_MASKED, "aclnnSoftmax made 4 NaN of infinite inputs: output out float32[2x4], at train.py:5"),
        (IN_A_THREAD, "aclnnLog made 2 infinities of finite inputs: output out float32[2], at train.py:3"),
        (MASKS, NONE),
    ],
)
def test_the_first_operator_is_named(check, script, expected):
    assert check(script) == [expected]


def test_an_overflow_is_named_and_not_the_softmax_behind_it(check):
    (told,) = check(OVERFLOW_IN_ATTENTION)
    assert "MatMul" in told.replace("Matmul", "MatMul") and "8192 infinities of finite inputs" in told
    assert told.endswith("float16[2x64x64], at train.py:4")


def test_a_gradient_is_told_as_one_and_forward_is_still_looked_for(check):
    backward, forward = check(GRADIENT_OF_A_ROOT)
    assert backward.endswith("at train.py:4, in backward (SqrtBackward0)") and "3 infinities" in backward
    assert forward == "aclnnLog made 3 infinities of finite inputs: output out float32[3], at train.py:5"


def test_nothing_is_looked_at_unless_it_is_asked_for(check):
    assert check(LOG_OF_0, "--no-transfer") == []
