# SPDX-License-Identifier: Apache-2.0
"""What anynpu run --report and --strict tell of the operators that torch-npu runs on the host."""

import json
import os
import re
from pathlib import Path

import anynpu_run
import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"

# eigh takes 4x4 floats. What falls back is its form that writes into given tensors: input and two outputs (16, 4 and
# 16 floats) go to the host, the outputs come back.
EIGH = "aten::_linalg_eigh.eigenvalues"
EIGH_BYTES = 4 * ((16 + 4 + 16) + (4 + 16))
FORWARD = """import torch
def values(x):
    return torch.linalg.eigh(x)[0]
x = torch.eye(4).npu()
for _ in range(3):
    values(x)
"""
# The gradient of this operator, on 8 floats, has no kernel: gradient and input go, the result comes.
BACKWARD = """import torch
class Late(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2
    @staticmethod
    def backward(context, gradient):
        return torch.special.airy_ai(gradient)
x = torch.ones(8).npu().requires_grad_()
for _ in range(3):
    Late.apply(x).sum().backward()
y = torch.ones(8).npu().requires_grad_()
for _ in range(3):
    torch.logcumsumexp(y, 0).sum().backward()
"""
PLAIN = """import torch
layer = torch.nn.Linear(4, 4).npu()
layer(torch.ones(2, 4).npu()).sum().backward()
print(layer.weight.grad.sum().item())
"""
RANKS = """import multiprocessing, os, sys, torch
def rank(number):
    if sys.argv[2] == "named":
        os.environ.update(RANK=str(number), WORLD_SIZE="2")
    for _ in range(number + 1):
        torch.linalg.eigh(torch.eye(4).npu())
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    ranks = [context.Process(target=rank, args=(number,)) for number in range(2)]
    for one in ranks: one.start()
    for one in ranks: one.join()
    sys.exit(sum(one.exitcode for one in ranks))
"""
THREADS = """import threading, torch
x = torch.eye(4).npu()
def work():
    for _ in range(5):
        torch.linalg.eigh(x)
threads = [threading.Thread(target=work) for _ in range(4)]
for one in threads: one.start()
for one in threads: one.join()
"""
MANY = """import torch
x = torch.randn(4, 4).npu()
torch.linalg.eigh(x), torch.special.airy_ai(x), x.to_sparse_bsr((2, 2)), x.to_sparse_csr(), torch.linalg.inv(x)
torch.unique(x), x[x > 0], torch.histc(x), torch.median(x), torch.cdist(x, x), torch.linalg.qr(x), torch.fft.fft(x)
str(x), torch.stack([x, x]), torch.cumprod(x, 0), torch.logcumsumexp(x, 0), torch.igamma(x.abs(), x.abs())
"""
TRAINING = """import torch
torch.manual_seed(0)
layers = torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 4)
model = torch.nn.Sequential(*layers).npu()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(32, 4)), batch_size=8, num_workers=1)
for (x,) in data:
    with torch.autocast("npu", torch.float16):
        y = model(x.npu())
    y = y.float()
    loss = torch.linalg.eigvalsh(y.T @ y).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print([p.detach().cpu().numpy().tobytes().hex() for p in model.parameters()])
traced = torch.jit.trace(lambda a: torch.special.airy_ai(a) * 2, torch.randn(3).npu())
compiled = torch.compile(lambda a: torch.special.airy_ai(a) + a, backend="aot_eager")
x = torch.ones(3).npu()
print(traced(x).tolist(), compiled(x).tolist(), torch.vmap(torch.sum)(x[None]).tolist())
"""


def run(folder, program, *options, arguments=()):
    script = folder / "script.py"
    script.write_text(program)
    env = {**os.environ, "PYTHONPATH": str(TOOLS), "XDG_RUNTIME_DIR": str(folder)}
    return anynpu_run.run(*options, script, *arguments, capture_output=True, text=True, env=env, timeout=300)


def reported(folder, program, *arguments):
    done = run(folder, program, f"--report={folder / 'out.json'}", arguments=arguments)
    assert done.returncode == 0, done.stderr
    found = {path.name: json.loads(path.read_text())["operators"] for path in folder.glob("out*.json")}
    return found


def line(program, text):
    return next(i for i, one in enumerate(program.splitlines(), 1) if text in one)


def test_an_operator_in_forward(tmp_path):
    (one,) = reported(tmp_path, FORWARD)["out.json"]
    assert one == {
        "op": EIGH,
        "called_for": "aten::_linalg_eigh",
        "line": f"{tmp_path}/script.py:{line(FORWARD, 'eigh')}",
        "backward": "",
        "reason": "torch-npu has no kernel for it",
        "runs": 3,
        "bytes": 3 * EIGH_BYTES,
    }


def test_operators_in_backward(tmp_path):
    found = {(one["op"], bool(one["backward"])): one for one in reported(tmp_path, BACKWARD)["out.json"]}
    own = found["aten::special_airy_ai.out", True]  # in the user's own function of autograd
    assert own["line"].endswith(f":{line(BACKWARD, 'airy')}") and own["backward"] == "LateBackward"
    assert (own["runs"], own["bytes"]) == (3, 3 * 4 * 8 * 3)
    assert found["aten::_logcumsumexp", False]["runs"] == 3
    inside = found["aten::_logcumsumexp", True]  # in one of PyTorch's: the line that ran backward
    assert inside["line"].endswith(f":{line(BACKWARD, 'logcumsumexp')}") and "Logcumsumexp" in inside["backward"]
    assert (inside["runs"], inside["bytes"]) == (6, 6 * 4 * 8 * 2)


def test_the_report_as_text(tmp_path):
    done = run(tmp_path, FORWARD, "--report")
    assert done.returncode == 0 and "PyTorch on the NPU: 1 operator on the host\n" in done.stderr
    assert f"    on the host: {EIGH}, 3 runs, {3 * EIGH_BYTES / 1024:.1f} KiB in and out: torch-npu has" in done.stderr
    assert f"      first called at {tmp_path}/script.py:3, called for aten::_linalg_eigh\n" in done.stderr


def test_a_script_without_a_fallback_has_a_report_of_one_line(tmp_path):
    done = run(tmp_path, PLAIN, "--report=" + str(tmp_path / "out.txt"))
    assert (done.returncode, done.stdout) == (0, run(tmp_path, PLAIN, "--strict").stdout)
    assert (tmp_path / "out.txt").read_text() == "PyTorch on the NPU: no operator ran on the host\n"


def test_a_script_that_fails_has_its_report_and_its_exit_code(tmp_path):
    done = run(tmp_path, FORWARD + "raise SystemExit(7)\n", "--report")
    assert done.returncode == 7 and f"{EIGH}, 3 runs" in done.stderr


@pytest.mark.parametrize("program, text", [(FORWARD, "eigh"), (BACKWARD, "airy")])
def test_strict_makes_it_an_error_with_line_and_cure(tmp_path, program, text):
    done = run(tmp_path, program, "--strict")
    assert done.returncode != 0
    wanted = [" would run on the host", f"{tmp_path}/script.py:{line(program, text)}", "torch-npu has no kernel for it"]
    assert all(one in done.stderr for one in [*wanted, ".cpu()", "without --strict"]), done.stderr


def test_a_place_that_cannot_be_written_gives_the_report_on_stderr(tmp_path):
    done = run(tmp_path, FORWARD, f"--report={tmp_path}/nowhere/out.txt")
    assert done.returncode == 0
    assert "no report can be written to " in done.stderr and "1 operator on the host" in done.stderr


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_each_rank_writes_its_own_file(tmp_path, method):
    found = reported(tmp_path, RANKS, method, "named")
    assert {name: sum(one["runs"] for one in rows) for name, rows in found.items()} == {
        "out.json": 0,
        "out.rank0.json": 1,
        "out.rank1.json": 2,
    }


def test_processes_without_a_rank_are_told_apart_by_their_number(tmp_path):
    found = reported(tmp_path, RANKS, "spawn", "unnamed")
    assert sorted(sum(one["runs"] for one in rows) for rows in found.values()) == [0, 1, 2]
    assert sum(name.startswith("out.process") for name in found) == 2


def test_threads_count_together(tmp_path):
    (one,) = reported(tmp_path, THREADS)["out.json"]
    assert (one["runs"], one["bytes"]) == (20, 20 * EIGH_BYTES)


def test_the_operators_are_those_that_torch_npu_warns_of(tmp_path):
    done = run(tmp_path, MANY, f"--report={tmp_path}/out.json")
    warned = re.findall(r"The operator '([\w:.]+)' is not currently supported on the NPU backend and", done.stderr)
    assert {one["op"] for one in json.loads((tmp_path / "out.json").read_text())["operators"]} == set(warned)
    assert len(warned) >= 5, done.stderr


def test_a_report_changes_no_bit(tmp_path):
    plain, observed = run(tmp_path, TRAINING), run(tmp_path, TRAINING, "--report")
    assert plain.returncode == observed.returncode == 0, observed.stderr
    assert plain.stdout == observed.stdout and "aten::special_airy_ai.out" in observed.stderr
