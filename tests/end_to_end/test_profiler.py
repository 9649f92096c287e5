# SPDX-License-Identifier: Apache-2.0
"""Profilers on an NPU that records nothing yet: the CPU side is there, what is missing is said in one line."""

import json
import os
import re
import subprocess
import sys

import pytest

LINE = "[WARNING] anynpu: NPU profiling ("

# One step of a small model under each profiler; what it saw comes out as JSON, a line on stderr closes each.
PROGRAM = """
import json, sys, torch
from torch.profiler import ProfilerActivity as A
torch.manual_seed(0)
device = sys.argv[1]
x = torch.randn(8, 8, device=device, requires_grad=True)
def step():
    torch.nn.functional.relu(x @ x).sum().backward()
step()
profilers = {
    "cpu": lambda: torch.profiler.profile(activities=[A.CPU], record_shapes=True),
    "autograd": lambda: torch.autograd.profiler.profile(record_shapes=True),
    "all": lambda: torch.profiler.profile(record_shapes=True),
}
wanted = ("aten::matmul", "aten::relu", "aten::sum", "autograd::engine::evaluate_function: ReluBackward0")
found = {}
for name, make in profilers.items():
    with make() as seen:
        step()
    events = seen.function_events if name == "autograd" else seen.events()
    found[name] = [[e.name, e.input_shapes, e.cpu_time_total > 0] for e in events if e.name in wanted]
    print("end of", name, file=sys.stderr, flush=True)
print(json.dumps(found))
"""

VENDORS = """
import sys, torch, torch_npu
from torch_npu.profiler import ProfilerActivity as A
x = torch.randn(8, 8, device="npu")
for name, activities in (("cpu", [A.CPU]), ("all", [A.CPU, A.NPU])):
    handler = torch_npu.profiler.tensorboard_trace_handler(f"{sys.argv[1]}/{name}")
    with torch_npu.profiler.profile(activities=activities, on_trace_ready=handler):
        (x @ x).sum().item()
    print("end of", name, file=sys.stderr, flush=True)
"""


def run(program, *arguments, log):
    env = {**os.environ, "ASCEND_PROCESS_LOG_PATH": str(log), "PYTHONFAULTHANDLER": "1"}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-4000:]}"
    return done


def told(stderr):
    """How often each part of a program was told what is missing."""
    parts = re.split(r"end of (\w+)\n", stderr)
    return {name: part.count(LINE) for part, name in zip(parts[::2], parts[1::2], strict=False)}


@pytest.mark.promise("profilers record the CPU side, and say that the NPU's is missing")
def test_torch_records_the_cpu_side_as_without_an_npu(tmp_path):
    on_npu = run(PROGRAM, "npu", log=tmp_path / "npu")
    on_cpu = run(PROGRAM, "cpu", log=tmp_path / "cpu")
    seen = json.loads(on_npu.stdout.splitlines()[-1])
    assert seen == json.loads(on_cpu.stdout.splitlines()[-1])
    assert all(len(events) == 4 for events in seen.values()), seen
    # By default the NPU's activities are asked for, too.
    assert told(on_npu.stderr) == {"cpu": 0, "autograd": 0, "all": 1}, on_npu.stderr


def test_the_vendors_profiler_writes_the_cpu_side_and_says_what_it_lacks(tmp_path):
    done = run(VENDORS, tmp_path, log=tmp_path / "log")
    assert told(done.stderr) == {"cpu": 0, "all": 1}, done.stderr
    for name in ("cpu", "all"):
        (trace,) = (tmp_path / name).rglob("trace_view.json")
        assert {"aten::matmul", "aten::sum"} <= {event.get("name") for event in json.loads(trace.read_text())}


def test_a_program_without_a_fault_leaves_no_log(tmp_path):
    # torch's backward thread gives back a Python object after backward() has returned; a program that ends before that
    # is aborted by it ("terminate called without an active exception"), whatever the device.
    program = "import time, torch; x = torch.ones(4, device='npu', requires_grad=True); (x * x).sum().backward()"
    run(f"{program}; time.sleep(0.5)", log=tmp_path / "log")
    assert not (tmp_path / "log").exists()
    failing = "import torch\ntry: torch.ones(2, device='npu') @ torch.ones(3, device='npu')\nexcept RuntimeError: pass"
    run(failing, log=tmp_path / "log")
    for kind in ("debug", "run"):
        (file,) = (tmp_path / "log" / kind / "plog").iterdir()
        assert any(line.startswith("[ERROR] ASCENDCL(") and "aclnn" in line for line in file.read_text().splitlines())
