# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C is heard while kernels are queued: a loop does not run ahead of them without end."""

import subprocess
import sys

import anynpu_run
import pytest

# The signal comes when the first product has run. Without a bound all of them would be queued by then, minutes of work,
# and the loop long over.
HEAD = """
import os, signal, threading
import torch
w = torch.randn(1500, 1500).npu()
first = torch.npu.Event()
def interrupt():
    first.synchronize()
    os.kill(os.getpid(), signal.SIGINT)
def begun(turn):
    if turn == 0:
        first.record()
        threading.Thread(target=interrupt, daemon=True).start()
turn = -1
"""
LOOPS = {
    "plain": """
for turn in range(20000):
    w = (w @ w) / 100
    begun(turn)
""",
    "loader": """
rows = torch.utils.data.TensorDataset(torch.randn(20000, 4))
for turn, (x,) in enumerate(torch.utils.data.DataLoader(rows, batch_size=1, num_workers=2)):
    w = (w @ w) / 100 + x.npu().sum()
    begun(turn)
""",
}
AFTER = {
    "ends": "pass",
    "goes on": "print('goes on', torch.ones(2).npu().sum().item())",
    "waits": "torch.npu.synchronize()",
}


def script(loop, after):
    body = "".join(f"    {line}\n" for line in LOOPS[loop].strip().splitlines())
    tail = (
        "    print('no interrupt', flush=True)\n    os._exit(1)\nexcept KeyboardInterrupt:\n    print('turn', turn)\n"
    )
    return f"{HEAD}try:\n{body}{tail}{AFTER[after]}\n"


def check(done):
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert int(done.stdout.split()[1]) < 2000, done.stdout


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_that_launches_is_interrupted(loop, after):
    command = [sys.executable, "-c", script(loop, after)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    check(done)
    assert after != "goes on" or "goes on 2.0" in done.stdout


def test_so_it_is_under_anynpu_run(tmp_path):
    (tmp_path / "train.py").write_text(script("plain", "waits"))
    check(anynpu_run.run(tmp_path / "train.py", capture_output=True, text=True, timeout=240))


GROWTH = """
import torch
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
a = torch.randn(700, 700).npu()
for _ in range(2000):
    a.add_(1.0)
before = resident()
for _ in range(20000):
    a.add_(1.0)
print(resident() - before)
"""


def test_memory_does_not_grow_with_launches():
    done = subprocess.run([sys.executable, "-c", GROWTH], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) < 20 << 20  # 5 KB a task would be 100 MB
