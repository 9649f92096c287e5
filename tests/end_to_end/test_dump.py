# SPDX-License-Identifier: Apache-2.0
"""Data dumps as a user of PyTorch asks for them: torch_npu's three functions, or the file of aclInit."""

import json
import os
import signal
import struct
import subprocess
import sys
import time

import numpy as np
import pytest

UNSET = ("ASCEND_HOME_PATH", "ASCEND_OPP_PATH")
STEP = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).npu()
x = torch.arange(12.0).reshape(3, 4).npu()
loss = model(x).square().sum()
loss.backward()
"""


def run(code, folder, **variables):
    env = {name: value for name, value in os.environ.items() if name not in UNSET} | variables
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def dumped(folder):
    """Files of a dump by type, in the order of their times."""
    (time,) = folder.iterdir()
    assert len(time.name) == 14 and time.name.isdecimal()
    files = sorted((time / "0").iterdir(), key=lambda path: path.name.rsplit(".", 1)[1])
    return [(path.name.split(".")[0], path) for path in files]


def payload(path):
    """What follows the header of a dump file."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return content[8 + length :]


def write(folder, **dump):
    (folder / "files").mkdir(exist_ok=True)
    words = {"dump_path": str(folder / "files"), "dump_op_switch": "on", "dump_mode": "output"} | dump
    (folder / "dump.json").write_text(json.dumps({"dump": words}))


AROUND = """
import torch
torch.npu.init_dump()
torch.npu.set_dump("dump.json")
{step}
torch.npu.synchronize()
torch.npu.finalize_dump()
after = (x + 1).sum()
print(loss.item().hex(), flush=True)
import os
os._exit(0)  # torch's own threads may not end well right behind a backward (docs/pytorch.md)
"""


@pytest.mark.promise("torch.npu.init_dump, set_dump and finalize_dump write the operators' tensors; no bit changes")
def test_what_runs_between_set_dump_and_finalize_dump_is_written(tmp_path):
    write(tmp_path)
    told = run(AROUND.format(step=STEP), tmp_path)
    plain = run(STEP + "import os\nprint(loss.item().hex(), flush=True)\nos._exit(0)", tmp_path)
    assert told.stdout == plain.stdout
    files = dumped(tmp_path / "files")
    types = [kind for kind, _ in files]
    assert {"Addmm", "Relu"} <= set(types) and types.count("Addmm") >= 2, types
    expected = run(
        STEP.replace(".npu()", "")
        + "import sys; sys.stdout.write(bytes(model[1](model[0](x)).detach().numpy()).hex())",
        tmp_path,
    )
    relu = next(path for kind, path in files if kind == "Relu")
    want = np.frombuffer(bytes.fromhex(expected.stdout), np.float32)
    np.testing.assert_allclose(np.frombuffer(payload(relu), np.float32), want, rtol=1e-6, atol=1e-6)


def test_statistics_in_place_of_elements(tmp_path):
    write(tmp_path, dump_data="stats", dump_mode="all")
    run(AROUND.format(step=STEP), tmp_path)
    files = dumped(tmp_path / "files")
    relu = next(path for kind, path in files if kind == "Relu").read_text().splitlines()
    assert relu[0].startswith("Input/Output,Index,Data Size,Data Type,Format,Shape,Count,Max Value")
    assert [line.split(",")[0] for line in relu[1:]] == ["Input", "Output"]
    assert relu[2].split(",")[5] == "3x8"
    assert float(relu[2].split(",")[8]) == 0.0  # the least of a rectified tensor


@pytest.mark.promise("what stands in the way of a dump is told on stderr, as torch_npu drops the code")
@pytest.mark.parametrize(
    "words, text",
    [
        ({"dump_mode": "some"}, "dump.dump_mode is some; write one of input, output, all"),
        ({"dump_path": "/nowhere/at/all"}, "dump_path /nowhere/at/all is no folder; make it first"),
        ({"dump_step": "5-3|x"}, 'the range "5-3" must go from a smaller to a larger step'),
        ({"dump_debug": "on"}, "dump.dump_debug excludes dump_list and dump_op_switch"),
        ({"dump_op_switch": "off"}, "asks for no dump"),
    ],
)
def test_a_dump_that_cannot_be_made_is_told(tmp_path, words, text):
    write(tmp_path, **words)
    told = run(AROUND.format(step=STEP), tmp_path).stderr
    assert text in told
    assert list((tmp_path / "files").iterdir()) == []


def test_a_dump_goes_to_its_end_with_a_process_that_does_not_end_it(tmp_path):
    write(tmp_path)
    forward = STEP.replace("loss.backward()", "")
    run("import torch\ntorch.npu.init_dump()\ntorch.npu.set_dump('dump.json')" + forward, tmp_path)
    files = dumped(tmp_path / "files")
    assert "Addmm" in [kind for kind, _ in files]
    assert not list((tmp_path / "files").rglob("*.part"))


OVERFLOW = """
import torch
import torch_npu
torch.npu.set_device(0)
torch.npu.init_dump()
torch.npu.set_dump("dump.json")
x = torch.full((4,), 300.0, dtype=torch.float16).npu()
y = x + x
z = y * y  # 360,000 is no float16
w = z * z  # follows of it
v = w - w
masked = x.masked_fill(x > 0, float("-inf"))
torch.npu.synchronize()
torch.npu.finalize_dump()
print(w.cpu().tolist(), flush=True)
"""


def words_of(folder):
    """What is told of each overflow in a dump, in the order of time, with its record and the operator's own file."""
    found = []
    for text in folder.rglob("overflow_*.json"):
        numbers = text.stem.removeprefix("overflow_").replace("_", ".")
        record = text.with_name(f"Opdebug.Node_OpDebug.{numbers}")
        task = record.name.split(".", 2)[2]
        (tensors,) = (p for p in text.parent.iterdir() if p.name.endswith(task) and not p.name.startswith("Opdebug"))
        found.append((int(task.split(".")[-1]), json.loads(text.read_text()), record, tensors))
    return [one[1:] for one in sorted(found, key=lambda one: one[0])]


@pytest.mark.promise("dump_debug names the operator that overflows first, and no bit changes")
def test_an_overflow_is_written_with_its_tensors_and_the_vendors_record(tmp_path):
    write(tmp_path)
    words = {"dump_path": str(tmp_path / "files"), "dump_debug": "on"}
    (tmp_path / "dump.json").write_text(json.dumps({"dump": words}))
    told = run(OVERFLOW, tmp_path)
    plain = run(OVERFLOW.replace("torch.npu.init_dump()", "").replace('torch.npu.set_dump("dump.json")', "")
                .replace("torch.npu.finalize_dump()", ""), tmp_path)  # fmt: skip
    assert told.stdout == plain.stdout
    ((text, record, tensors),) = words_of(tmp_path / "files")
    assert text["op_type"] == "aclnnMul" and tensors.name.startswith("Mul.aclnnMul.")
    assert text["results"] == [
        {"output": 0, "name": "out", "dtype": "float16", "shape": [4], "infinities": 4, "nans": 0, "saturated": 0}
        | {name: text["results"][0][name] for name in ("finite_min", "finite_max")}
    ]
    content = payload(record)
    assert len(content) == 2048 and content[:4] == b"ZZZZ"
    task, stream = map(int, tensors.name.split(".")[2:4])
    assert struct.unpack_from("<QQQ", content, 24) == (0, stream, task)
    numbers = np.frombuffer(payload(tensors), np.float16)
    assert numbers.tolist() == [600] * 8 + [float("inf")] * 4


def test_what_a_failed_operator_had_read_is_written(tmp_path):
    write(tmp_path, dump_op_switch="off", enable_exception_dump=1)
    code = """
import torch
torch.npu.init_dump()
torch.npu.set_dump("dump.json")
x = torch.arange(4.0).npu()
try:
    print(torch.index_select(x, 0, torch.tensor([1, 9]).npu()).cpu())
    torch.npu.synchronize()
except RuntimeError as error:
    print(error)
import os
os._exit(0)
"""
    done = run(code, tmp_path)
    assert "failed; its inputs and parameters are in" in done.stderr, done.stdout + done.stderr
    (file,) = (tmp_path / "extra-info" / "data-dump" / "0").iterdir()
    assert np.arange(4, dtype=np.float32).tobytes() in payload(file)


BIG = 1 << 20
STEPS = """
import os, resource, sys, time, torch
torch.npu.set_device(0)
def step(x):
    return x * 3 + 1
x = torch.arange(1 << 20).float().npu()
y = step(x)
torch.npu.synchronize()
"""


def sizes_are_whole(folder):
    """How many files of STEPS there are; each with all of its one output, or the test fails."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".part")]
    for path in files:
        assert len(payload(path)) == 4 * BIG, path
    return len(files)


@pytest.mark.promise("a full disk ends the dump with one error that names the file; what was written stays, bits too")
def test_a_full_disk_ends_the_dump_and_not_the_training(tmp_path):
    write(tmp_path)
    code = (
        STEPS
        + """
torch.npu.init_dump()
torch.npu.set_dump("dump.json")
y = step(y)
torch.npu.synchronize()
while len([n for _, _, names in os.walk("files") for n in names if not n.endswith(".part")]) < 2:
    time.sleep(0.01)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
for _ in range(3):
    y = step(y)
print(bytes(y[:9].cpu().numpy()).hex(), flush=True)
torch.npu.finalize_dump()
os._exit(0)
"""
    )
    done = run(code, tmp_path)
    plain = STEPS + "for _ in range(4): y = step(y)\nprint(bytes(y[:9].cpu().numpy()).hex(), flush=True)\nos._exit(0)"
    assert done.stdout == run(plain, tmp_path).stdout
    assert done.stderr.count("the dump has ended, a file could not be written") == 1, done.stderr
    assert "File too large" in done.stderr and "aclnnMul" in done.stderr
    assert sizes_are_whole(tmp_path / "files") == 2
    assert not list((tmp_path / "files").rglob("*.part"))


@pytest.mark.promise("of a process that is killed in mid-dump no file with its name is a part of one")
def test_what_a_killed_process_has_written_is_whole(tmp_path):
    write(tmp_path)
    code = (
        STEPS
        + """
torch.npu.init_dump()
torch.npu.set_dump("dump.json")
while True:
    step(x)
"""
    )
    env = {name: value for name, value in os.environ.items() if name not in UNSET}
    with subprocess.Popen([sys.executable, "-c", code], env=env, cwd=tmp_path, stderr=subprocess.PIPE) as process:
        while process.poll() is None and len(list((tmp_path / "files").rglob("*.aclnn*"))) < 20:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, process.stderr.read()
    assert sizes_are_whole(tmp_path / "files") >= 19  # one of the 20 may have been a part


def test_processes_that_begin_in_one_second_dump_into_folders_of_their_own(tmp_path):
    write(tmp_path)
    code = (
        STEPS
        + """
print("ready", flush=True)
at = float(sys.stdin.readline())
time.sleep(at - time.time())
torch.npu.init_dump()
torch.npu.set_dump("dump.json")
for _ in range(4):
    step(x)
torch.npu.synchronize()
torch.npu.finalize_dump()
os._exit(0)
"""
    )
    env = {name: value for name, value in os.environ.items() if name not in UNSET}
    both = [subprocess.Popen([sys.executable, "-c", code], env=env, cwd=tmp_path, text=True, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]  # fmt: skip
    for process in both:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
    at = float(int(time.time()) + 2)
    for process in both:
        process.stdin.write(f"{at}\n")
        process.stdin.flush()
    for process in both:
        _, error = process.communicate()
        assert process.returncode == 0 and "dump" not in error, error
    assert [sizes_are_whole(folder) for folder in (tmp_path / "files").iterdir()] == [8, 8]
