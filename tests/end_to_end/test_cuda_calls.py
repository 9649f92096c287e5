# SPDX-License-Identifier: Apache-2.0
"""What a script written for a GPU calls beside `.cuda()` works by `anynpu run`, and in scripts that import
transfer_to_npu themselves; results are the CPU's."""

import json
import re
import subprocess
import sys

import anynpu_run
import pytest

SCALED = """
import sys, torch
def train(device, scaler, fused):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 1)).to(device)
    optimizer = {optimizer}(model.parameters(), lr=1e-2, fused=fused)
    x = torch.randn(32, 8, generator=torch.Generator().manual_seed(1))
    y = x.sum(1, keepdim=True)
    losses, scales = [], []
    for step in range(6):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x.to(device)), y.to(device))
        scaled = scaler.scale(loss)
        scaled.backward()
        if step == 2:
            model[0].weight.grad[0, 0] = float("inf")
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item()), scales.append(scaler.get_scale())
    return losses, scales
options = dict(init_scale=64.0, growth_interval=2)
ours = train("cuda", torch.cuda.amp.GradScaler(**options), True)
cpu = train("cpu", torch.amp.GradScaler("cpu", **options), False)
assert ours[1] == cpu[1], (ours[1], cpu[1])
apart = max(abs(a - b) / abs(b) for a, b in zip(ours[0], cpu[0], strict=True))
print("apart", apart, ours[1])
assert apart < 1e-5
assert isinstance(torch.cuda.amp.GradScaler(), torch.amp.GradScaler)
assert not torch.cuda.amp.GradScaler(2.0, 2.0, 0.5, 10, False).is_enabled()
"""


def run(tmp_path, text, *options, **environment):
    script = tmp_path / "train.py"
    script.write_text(text)
    done = anynpu_run.run(*options, script, capture_output=True, text=True, timeout=300, cwd=tmp_path, **environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done


@pytest.mark.promise("GPU scripts: torch.cuda.amp.GradScaler with fused optimizers")
@pytest.mark.parametrize(
    "optimizer",
    ["torch.optim.Adam", "torch.optim.AdamW", "(lambda p, **named: torch.optim.SGD(p, momentum=0.9, **named))"],
    ids=["Adam", "AdamW", "SGD"],  # the fused SGD of torch-npu needs a momentum
)
def test_a_scaler_takes_a_fused_optimizer(tmp_path, optimizer):
    run(tmp_path, SCALED.replace("{optimizer}", optimizer))


PROFILED = """
import json, torch
from torch.profiler import profile, schedule, tensorboard_trace_handler, ProfilerActivity, record_function
import torch.cuda.nvtx as marks
x = torch.randn(64, 64).cuda()
def step():
    with record_function("step"):
        torch.cuda.nvtx.range_push("forward")
        y = (x @ x).relu()
        torch.cuda.nvtx.range_pop()
        with marks.range("sum {}", 1):
            y.sum()
        turn = marks.range_start("turn")
        marks.mark("here")
        marks.range_end(turn)
    torch.cuda.synchronize()
step()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True, record_shapes=True) as seen:
    step()
averages = seen.key_averages()
table = averages.table(sort_by="cuda_time_total", row_limit=20)
seen.export_chrome_trace("trace.json")
seen.export_stacks("stacks.txt", "self_cuda_time_total")
with profile(schedule=schedule(wait=1, warmup=1, active=1), on_trace_ready=tensorboard_trace_handler("log")) as seen:
    for _ in range(3):
        step()
        seen.step()
with torch.autograd.profiler.profile(use_cuda=True) as autograd:
    step()
product = next(one for one in averages if one.key == "aten::matmul")
on_device = any(one.device_time_total > 0 for one in averages)
print("found", json.dumps([product.count, on_device, "NPU" in table, "NPU" in autograd.key_averages().table()]))
"""


@pytest.mark.promise("GPU scripts: torch.profiler with key_averages, export_stacks, export_chrome_trace; nvtx as marks")
def test_torchs_profiler_remains_and_records_the_npu(tmp_path):
    (found,) = re.findall("^found (.*)$", run(tmp_path, PROFILED).stdout, re.MULTILINE)
    assert json.loads(found) == [1, True, True, True]
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {"aten::matmul", "step"} <= {event["name"] for event in events}
    assert any(event.get("cat") == "kernel" for event in events)
    assert (tmp_path / "stacks.txt").exists() and list((tmp_path / "log").glob("*.pt.trace.json"))


VENDORS = """
import torch, torch_npu
config = torch_npu.profiler._ExperimentalConfig(profiler_level=torch_npu.profiler.ProfilerLevel.Level0)
activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
seen = torch.profiler.profile(activities=activities, experimental_config=config)
print(type(seen).__module__)
"""


def test_a_configuration_of_torch_npu_gets_its_profiler(tmp_path):
    assert "torch_npu.profiler.profiler" in run(tmp_path, VENDORS).stdout.splitlines()


MARKED = """
import sys, torch, torch_npu
with torch_npu.profiler.profile(on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("log"),
        experimental_config=torch_npu.profiler._ExperimentalConfig(
            profiler_level=torch_npu.profiler.ProfilerLevel.Level_none, mstx=True)):
    torch.cuda.nvtx.mark("a mark")
    with torch.cuda.nvtx.range("a range"):
        torch.ones(2).cuda().sum().item()
"""


def test_marks_of_nvtx_stand_in_the_timeline(tmp_path):
    run(tmp_path, MARKED)
    (trace,) = (tmp_path / "log").rglob("trace_view.json")
    names = {event.get("name") for event in json.loads(trace.read_text())}
    assert {"a mark", "a range"} <= names


PROPERTIES = """
import json, torch
p = torch.cuda.get_device_properties(0)
free, total = torch.cuda.mem_get_info()
print(json.dumps([p.major, p.minor, p.multi_processor_count, p.total_memory >= total > 0, p.name,
                  list(torch.cuda.get_device_capability())]))
"""


@pytest.mark.parametrize(
    ("soc", "seen"),
    [("Ascend910B1", [8, 0, 48, True, "Ascend910B1", [8, 0]]), ("Ascend910A", [7, 0, 32, True, "Ascend910A", [7, 0]])],
)
def test_properties_of_a_device_have_the_fields_of_a_gpu(tmp_path, monkeypatch, soc, seen):
    monkeypatch.setenv("ANYNPU_SOC", soc)
    assert json.loads(run(tmp_path, PROPERTIES).stdout.splitlines()[-1]) == seen


def test_so_they_have_without_transfer(tmp_path):
    text = PROPERTIES.replace("torch.cuda", "torch.npu").replace(", list(torch.npu.get_device_capability())", "")
    text = text.replace("p.name,\n                  list(torch.npu.get_device_capability())", "p.name")
    assert json.loads(run(tmp_path, text, "--no-transfer").stdout.splitlines()[-1]) == [8, 0, 48, True, "Ascend910B1"]


COMPILED = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
x = torch.randn(4, 8)
right = model(x)
{move}
compiled = torch.compile(model{options})
out = compiled(x.{device}())
out.sum().backward()
assert torch.allclose(out.cpu(), right, atol=1e-5), (out.cpu() - right).abs().max()
@torch.compile
def step(v): return (v * 2 + 1).relu()
assert step(torch.ones(3).{device}()).tolist() == [3, 3, 3]
print("right")
"""


@pytest.mark.promise("torch.compile without a backend runs on the NPU, eagerly, and says so once")
@pytest.mark.parametrize("options", ["", ", mode='max-autotune'", ", backend='inductor'", ", dynamic=True"])
@pytest.mark.parametrize("device", ["cuda", "npu"])
def test_compile_without_a_backend_runs(tmp_path, options, device):
    text = COMPILED.format(move=f"model = model.{device}()", options=options, device=device)
    done = run(tmp_path, text, *(["--no-transfer"] if device == "npu" else []))
    assert done.stdout.splitlines()[-1] == "right"
    assert done.stderr.count("torch.compile: inductor makes no kernels for the NPU") == 1, done.stderr


def test_the_first_line_comes_after_at_most_one_other(tmp_path):
    """Of torch-npu: how it pads on this SoC."""
    done = run(tmp_path, "import sys, torch\nprint(torch.ones(2).cuda().sum().item(), file=sys.stderr)\n")
    assert done.stdout == "" and done.stderr.splitlines()[-1] == "2.0"
    assert len(done.stderr.splitlines()) <= 2, done.stderr


def test_a_script_that_transfers_itself_gets_the_same(tmp_path):
    script = tmp_path / "own.py"
    script.write_text("import torch, torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n"
                      + SCALED.replace("{optimizer}", "torch.optim.Adam"))  # fmt: skip
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "are replaced with torch.npu" in done.stderr, "who asks for it hears the vendor's words"
