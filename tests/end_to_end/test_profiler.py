# SPDX-License-Identifier: Apache-2.0
"""Profilers show the NPU: torch_npu's in the files that its viewer reads, torch's in its own, and PROFILING_MODE for a
program that asks for nothing."""

import collections
import csv
import json
import os
import sqlite3
import subprocess
import sys

import pytest
from anynpu.library import place

# One step of a small model under each profiler; what it saw comes out as JSON.
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
        if device == "npu":
            torch.npu.synchronize()  # what is on its way when the profiler ends is not seen
    events = seen.function_events if name == "autograd" else seen.events()
    found[name] = [[e.name, e.input_shapes, e.cpu_time_total > 0] for e in events if e.name in wanted]
    if name == "all" and len(sys.argv) > 2:
        seen.export_chrome_trace(sys.argv[2])
print(json.dumps(found))
"""

VENDORS = """
import sys, torch, torch_npu
from torch_npu import profiler
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(8, 16).npu()
def step():
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
step()
kind = getattr(profiler.ExportType, sys.argv[3] if len(sys.argv) > 3 else "Text")
config = profiler._ExperimentalConfig(profiler_level=getattr(profiler.ProfilerLevel, sys.argv[2]), export_type=[kind])
activities = [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU][:2 if sys.argv[2] != "Level_none" else 1]
handler = profiler.tensorboard_trace_handler(sys.argv[1])
with profiler.profile(activities=activities, on_trace_ready=handler, record_shapes=True, experimental_config=config,
                      schedule=profiler.schedule(wait=0, warmup=0, active=3, repeat=1)) as seen:
    for _ in range(3):
        step()
        seen.step()
"""


def run(program, *arguments, log):
    env = {**os.environ, "ASCEND_PROCESS_LOG_PATH": str(log), "PYTHONFAULTHANDLER": "1"}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-4000:]}"
    return done


@pytest.mark.promise("torch.profiler shows the NPU's operators and which calls of PyTorch they are of")
def test_torch_records_the_npu_and_the_cpu_side_as_without_one(tmp_path):
    on_npu = run(PROGRAM, "npu", tmp_path / "trace.json", log=tmp_path / "npu")
    on_cpu = run(PROGRAM, "cpu", log=tmp_path / "cpu")
    seen = json.loads(on_npu.stdout.splitlines()[-1])
    assert seen == json.loads(on_cpu.stdout.splitlines()[-1])
    assert all(len(events) == 4 for events in seen.values()), seen
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    kernels = {event["name"] for event in events if event.get("cat") == "kernel"}
    assert {"aclnnMatmul_MatMulV2", "aclnnRelu_Relu", "aclnnReduceSum_ReduceSum"} <= kernels, kernels
    # An arrow of the trace leads from the thread of each call of PyTorch to its kernels.
    starts = {event["id"] for event in events if (event.get("cat"), event["ph"]) == ("ac2g", "s")}
    ends = {event["id"] for event in events if (event.get("cat"), event["ph"]) == ("ac2g", "f")}
    assert starts == ends and len(starts) >= 5, f"{starts} and {ends}"


OF_THE_GUIDE = """
import torch, torch_npu
x = torch.randn(8, 8, device="npu", requires_grad=True)
with torch.autograd.profiler.profile(use_npu=True) as prof:
    (x @ x).relu().sum().backward()
print(prof.key_averages().table())
"""


@pytest.mark.promise("the porting guide's profile(use_npu=True) shows the NPU's time")
def test_the_profiler_of_the_porting_guide(tmp_path):
    table = run(OF_THE_GUIDE, log=tmp_path / "log").stdout
    head = next(line for line in table.splitlines() if "Self CPU" in line)
    assert "Self NPU" in head and "aten::relu" in table, table


OF_ITSELF = """
import torch
x = torch.randn(8, 8, device="npu")
torch.nn.functional.gelu(x @ x)
torch.npu.synchronize()
"""


@pytest.mark.promise("PROFILING_MODE records a program that knows nothing of it")
def test_the_environment_records_a_program(tmp_path, monkeypatch):
    monkeypatch.setenv("PROFILING_MODE", "true")
    monkeypatch.setenv("PROFILING_OPTIONS", json.dumps({"output": str(tmp_path / "made"), "l2": "on"}))
    told = run(OF_ITSELF, log=tmp_path / "log").stderr
    assert told.count("l2 ask for counters of the chip") == 1, told
    (folder,) = (tmp_path / "made").iterdir()
    assert f"msprof --export=on --output={folder}" in told, told
    subprocess.run([place.home() / "tools/profiler/bin/msprof", "--export=on", f"--output={folder}"], check=True)
    (summary,) = folder.rglob("op_summary_*.csv")
    assert {"MatMulV2", "Gelu"} <= {one["OP Type"] for one in rows(summary.parent, summary.name)}


@pytest.mark.parametrize(
    ("options", "reason"),
    [("output=/tmp", "PROFILING_OPTIONS is no JSON object"), ('{"output": "/proc/none"}', "'/proc/none' is no folder")],
)
def test_what_cannot_be_recorded_costs_the_records_and_nothing_else(options, reason, tmp_path, monkeypatch):
    monkeypatch.setenv("PROFILING_MODE", "true")
    monkeypatch.setenv("PROFILING_OPTIONS", options)
    told = run(OF_ITSELF, log=tmp_path / "log").stderr
    assert told.count(f"nothing is recorded: {reason}") == 1, told


def rows(folder, name):
    with open(folder / name, newline="") as file:
        return [{key: value.strip() for key, value in row.items()} for row in csv.DictReader(file)]


@pytest.mark.promise("torch_npu.profiler writes timelines and tables of the NPU")
def test_the_vendors_profiler_shows_the_npu(tmp_path):
    done = run(VENDORS, tmp_path, "Level1", log=tmp_path / "log")
    assert "[ERROR]" not in done.stdout + done.stderr, done.stdout + done.stderr
    (folder,) = tmp_path.rglob("ASCEND_PROFILER_OUTPUT")
    kernels = rows(folder, "kernel_details.csv")
    steps = 3
    assert {one["Step Id"] for one in kernels} == {"0", "1", "2"}
    types = collections.Counter(one["Type"] for one in kernels)
    assert types["MatMulV2"] >= 2 * steps and types["Gelu"] == steps and types["GeluGrad"] == steps, types
    assert {one["Accelerator Core"] for one in kernels if one["Type"] == "MatMulV2"} == {"AI_CORE"}
    assert all(float(one["Duration(us)"]) > 0 for one in kernels)
    gelu = next(one for one in kernels if one["Type"] == "Gelu")
    assert (gelu["Input Shapes"], gelu["Input Data Types"], gelu["Output Shapes"]) == ('"8,32"', "FLOAT", '"8,32"')
    assert sorted(float(one["Start Time(us)"]) for one in kernels) == [float(one["Start Time(us)"]) for one in kernels]
    # Each kernel is one of a call of PyTorch's.
    called = {one["Name"]: float(one["Device Total Duration(us)"]) for one in rows(folder, "operator_details.csv")}
    assert called["aten::addmm"] > 0 and called["aten::gelu"] > 0
    for one in rows(folder, "step_trace_time.csv"):
        assert float(one["Computing"]) > 0 and float(one["Communication"]) == 0
    assert {one["OP Type"] for one in rows(folder, "op_statistic.csv")} == set(types)
    assert "aclnnAddmm" in {one["API Name"] for one in rows(folder, "api_statistic.csv")}
    events = json.loads((folder / "trace_view.json").read_text())
    assert {"aten::addmm", "aclnnAddmm_MatMulV2", "Computing", "Free"} <= {event.get("name") for event in events}
    arrows = [event for event in events if event.get("cat") == "async_npu"]
    assert len(arrows) >= 2 * len(kernels), f"{len(arrows)} ends of arrows to {len(kernels)} kernels"


# Which kernel ran for which call of PyTorch.
KERNELS = """select calls.value, kernels.value, units.value from PYTORCH_API join CONNECTION_IDS
    on CONNECTION_IDS.id = PYTORCH_API.connectionId join TASK on TASK.connectionId = CONNECTION_IDS.connectionId
    join COMPUTE_TASK_INFO using (globalTaskId) join STRING_IDS calls on calls.id = PYTORCH_API.name
    join STRING_IDS kernels on kernels.id = COMPUTE_TASK_INFO.name
    join STRING_IDS units on units.id = COMPUTE_TASK_INFO.taskType"""


def test_the_vendors_profiler_as_a_database(tmp_path):
    done = run(VENDORS, tmp_path, "Level1", "Db", log=tmp_path / "log")
    assert "[ERROR]" not in done.stdout + done.stderr, done.stdout + done.stderr
    (folder,) = tmp_path.rglob("ASCEND_PROFILER_OUTPUT")
    found = collections.Counter(sqlite3.connect(folder / "ascend_pytorch_profiler.db").execute(KERNELS).fetchall())
    assert found["aclnnAddmm", "aclnnAddmm_MatMulV2", "AI_CORE"] == 6, found
    steps = (
        sqlite3.connect(folder / "analysis.db").execute("select step, computing, free from StepTraceTime").fetchall()
    )
    assert [one[0] for one in steps] == ["0", "1", "2"] and all(one[1] > 0 and one[2] > 0 for one in steps), steps


MARKED = """
import sys, torch, torch_npu
from torch_npu import profiler
x = torch.randn(8, 8).npu()
stream = torch.npu.current_stream()
config = profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.Level_none, mstx=True)
with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(sys.argv[1]), experimental_config=config):
    torch_npu.npu.mstx.mark("here", domain="load")
    turn = torch_npu.npu.mstx.range_start("turn", stream)
    (x @ x).sum().item()
    torch_npu.npu.mstx.range_end(turn)
    torch.npu.synchronize()
"""


@pytest.mark.promise("marks of MSTX stand in the timeline, of the host and of the stream")
def test_marks_of_the_program_stand_in_the_timeline(tmp_path):
    run(MARKED, tmp_path, log=tmp_path / "log")
    (trace,) = tmp_path.rglob("trace_view.json")
    events = [event for event in json.loads(trace.read_text()) if event.get("args", {}).get("mark_id")]
    assert sorted(event["name"] for event in events) == ["here", "turn", "turn"], events
    here = next(event for event in events if event["name"] == "here")
    assert here["args"]["domain"] == "load"
    host, device = (event for event in events if event["name"] == "turn")
    assert host["args"]["mark_id"] == device["args"]["mark_id"] and host["pid"] != device["pid"]
    assert host["dur"] > 0 and device["dur"] > 0


def test_the_vendors_profiler_without_shapes_and_without_the_npu(tmp_path):
    for level in ("Level0", "Level_none"):
        done = run(VENDORS, tmp_path / level, level, log=tmp_path / "log")
        assert "[ERROR]" not in done.stdout + done.stderr, done.stdout + done.stderr
        (trace,) = (tmp_path / level).rglob("trace_view.json")
        names = {event.get("name") for event in json.loads(trace.read_text())}
        assert "aten::addmm" in names and ("aclnnAddmm_MatMulV2" in names) == (level == "Level0")


def test_a_program_without_a_fault_leaves_no_log(tmp_path):
    program = "import torch; x = torch.ones(4, device='npu', requires_grad=True); (x * x).sum().backward()"
    run(program, log=tmp_path / "log")
    assert not (tmp_path / "log").exists()
    failing = "import torch\ntry: torch.ones(2, device='npu') @ torch.ones(3, device='npu')\nexcept RuntimeError: pass"
    run(failing, log=tmp_path / "log")
    for kind in ("debug", "run"):
        (file,) = (tmp_path / "log" / kind / "plog").iterdir()
        assert any(line.startswith("[ERROR] ASCENDCL(") and "aclnn" in line for line in file.read_text().splitlines())
