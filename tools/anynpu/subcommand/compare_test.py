# SPDX-License-Identifier: Apache-2.0
import json
import subprocess
import sys

import numpy as np
import pytest


def compare(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "anynpu", "compare", *map(str, arguments)], capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


class Probe:
    """A dump of msprobe, as its PrecisionDebugger writes one."""

    def __init__(self, folder, write):
        self.folder, self.write = folder, write
        (folder / "dump_tensor_data").mkdir(parents=True)
        self.data = {}

    def tensor(self, name, value):
        told = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": list(value.shape)}
        told |= {"Max": float(value.max()), "Min": float(value.min()), "Mean": float(value.mean())}
        told["Norm"] = float(np.linalg.norm(value))
        if self.write:
            told["data_name"] = f"{name}.{self.write}"
            self.save(self.folder / "dump_tensor_data" / told["data_name"], value)
        return told

    def save(self, path, value):
        if self.write == "npy":
            return np.save(path, value)
        torch = pytest.importorskip("torch")
        return torch.save(torch.from_numpy(value), path)

    def call(self, name, inputs, outputs, **more):
        self.data[name] = {
            "input_args": [self.tensor(f"{name}.input.{i}", value) for i, value in enumerate(inputs)],
            "input_kwargs": {},
            "output": [self.tensor(f"{name}.output.{i}", value) for i, value in enumerate(outputs)],
            **{key: {k: self.tensor(f"{name}.{k}", v) for k, v in value.items()} for key, value in more.items()},
        }

    def done(self):
        (self.folder / "dump.json").write_text(json.dumps({"task": "tensor", "level": "mix", "data": self.data}))


def probe(folder, write, broken=""):
    """Two layers in a container. What is broken is 3 % larger."""
    made = Probe(folder / "step0" / "rank0", write)
    r = np.random.default_rng(0)
    x, w = r.normal(size=(8, 16)).astype(np.float32), r.normal(size=(16, 16)).astype(np.float32)
    first = (x @ w) * np.float32(1.03 if broken == "linear" else 1)
    made.call("Functional.linear.0.forward", [x, w], [first])
    made.call("Module.body.0.Linear.forward.0", [x], [first], parameters={"weight": w})
    second = np.maximum(first, 0) * np.float32(1.03 if broken == "relu" else 1)
    made.call("Functional.relu.0.forward", [first], [second])
    made.call("Module.body.1.ReLU.forward.0", [first], [second])
    made.call("Module.body.Sequential.forward.0", [x], [second])
    made.done()
    return folder


@pytest.mark.parametrize("write", ["npy", "pt", ""])
@pytest.mark.parametrize(
    "broken, named", [("linear", "Functional.linear.0.forward"), ("relu", "Functional.relu.0.forward")]
)
def test_of_msprobes_dumps_the_first_call_is_named(tmp_path, write, broken, named):
    golden = probe(tmp_path / "golden", write)
    code, out, _ = compare(probe(tmp_path / "run", write, broken), golden)
    assert code == 1 and f"first: {named} " in out and "more begin" not in out, out
    code, out, _ = compare(golden, golden)
    assert code == 0 and "no difference" in out, out


def test_a_file_that_torch_did_not_finish_is_told(tmp_path):
    golden, run = probe(tmp_path / "golden", "pt"), probe(tmp_path / "run", "pt")
    file = run / "step0/rank0/dump_tensor_data/Functional.relu.0.forward.output.0.pt"
    file.write_bytes(file.read_bytes()[:600])
    code, out, _ = compare(run, golden)
    assert code == 0 and "not compared: Functional.relu.0.forward: " in out and file.name in out, out


def test_several_ranks_are_told(tmp_path):
    golden, run = probe(tmp_path / "golden", "npy"), probe(tmp_path / "run", "npy")
    (run / "step0/rank1").mkdir()
    (run / "step0/rank1/dump.json").write_text((run / "step0/rank0/dump.json").read_text())
    code, out, _ = compare(run, golden)
    assert code == 0 and "of the devices rank0, rank1, rank0 is compared" in out, out


@pytest.mark.parametrize("words, code", [([], 2), (["one"], 2), (["-x", "y"], 2), (["nowhere", "nowhere"], 3)])
def test_wrong_words_are_refused(words, code):
    found, out, told = compare(*words)
    assert found == code and told and not out


def test_an_empty_folder_is_refused(tmp_path):
    code, _, told = compare(tmp_path, tmp_path)
    assert code == 3 and "holds no dump" in told


def test_help_tells_the_options():
    code, out, _ = compare("--help")
    assert code == 0 and "--html" in out


def test_the_program_starts_without_what_the_other_commands_read():
    script = (
        "import os, sys, anynpu.command; os.execv = lambda *_: print(*sys.modules); anynpu.command.main(['compare'])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "anynpu.subcommand.compare" in done.stdout, done.stderr
    for name in ("argparse", "importlib.metadata", "anynpu.subcommand.run"):
        assert name not in done.stdout.split()


def test_no_framework_is_imported():
    script = "import sys, anynpu.command; sys.exit(any(n in sys.modules for n in ('torch', 'tensorflow', 'numpy')))"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
