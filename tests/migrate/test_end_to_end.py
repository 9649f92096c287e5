# SPDX-License-Identifier: Apache-2.0
"""GPU scripts in the style of public examples (scripts/): migrated, then trained on the software NPU. The text is the
one that scripts/*/*.diff tells, and the losses of its steps are those of the script as it was on the CPU: within 1e-5
a step, the stricter part of the house's rule, or 2 % where the NPU trains in half precision. Scripts for several
devices and for TensorFlow 1 (scripts/distributed) are not trained: what they name must be there, or stand in
rules/pending.tsv.

The CPU runs have a stock framework, without our packages. Two scripts use names that TensorFlow 2.15 no longer has or
understands otherwise; on the CPU they get those of TensorFlow 2.6 back (train.py)."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import binary
import golden
import pytest
import test_names_exist as known

HERE = Path(__file__).resolve().parent
CASES = sorted(f"{p.parent.name}/{p.stem}" for p in golden.SCRIPTS.glob("*/*.py"))
TRAINED = [name for name in CASES if name not in golden.OPTIONS]
HALF = {"tensorflow/mixed_experimental", "tensorflow/mixed_float16_fit", "tensorflow/mixed_loss_scale",
        "torch/resnet_amp", "torch/small_gpt"}  # fmt: skip
WRITTEN_FOR_2_6 = {"tensorflow/aliased_imports", "tensorflow/mixed_experimental"}
# These keep the import of Horovod for what nothing stands for, which failed_report.txt lists.
KEEPS_HOROVOD = {
    "distributed/hvd_custom_loop": {"horovod.tensorflow"},
    "distributed/hvd_keras_callbacks": {"horovod.tensorflow.keras"},
}
# What is run on the host by design: data sets.
FEED = {"IteratorGetNext"}
BESIDE = {
    "tensorflow": ["success_report.txt", "api_brief_report.txt", "api_analysis_report.xlsx"],
    "torch": ["msFmkTranspltlog.txt", "change_list.csv"],
}
BESIDE["distributed"] = BESIDE["tensorflow"]
# What is loaded before the script, to share the seconds that takes. Nothing of ours for the CPU.
LOADED = {
    ("tensorflow", "cpu"): ["tensorflow", "keras.api._v2.keras", "sklearn.datasets"],
    ("tensorflow", "npu"): ["tensorflow", "keras.api._v2.keras", "sklearn.datasets"],
    ("torch", "cpu"): ["torch", "torch._dynamo", "sklearn.datasets"],
    ("torch", "npu"): ["torch", "torch._dynamo", "sklearn.datasets", "torch_npu"],
}


class Case:
    """A script, its migration below `folder`, and the results of training."""

    def __init__(self, name, folder):
        self.framework, self.stem = name.split("/")
        self.name, self.folder = name, folder / name
        self.script = golden.SCRIPTS / f"{name}.py"
        self.input = self.folder / self.stem

    def migrate(self, source, out):
        """Migrates the folder `source`; returns the run and the migrated script, None where there is not just one."""
        out.mkdir()
        run = binary.migrate(*golden.arguments(self.name, source, out), folder=self.folder)
        found = list(out.rglob(self.script.name))
        return run, found[0] if len(found) == 1 else None

    def prepare(self):
        self.input.mkdir(parents=True)
        (self.input / self.script.name).write_bytes(self.script.read_bytes())
        self.run, self.migrated = self.migrate(self.input, self.folder / "out")

    def file(self, where, kind):
        return self.folder / f"{where}.{kind}"

    def order(self, where):
        """The run for train.py."""
        folder = self.folder / where
        folder.mkdir()
        run = {"script": str(self.script if where == "cpu" else self.migrated), "folder": str(folder)}
        run |= {kind: str(self.file(where, kind)) for kind in ("log", "result")}
        run["names_of_2_6"] = where == "cpu" and self.name in WRITTEN_FOR_2_6
        return run | ({"report": str(self.folder / "report.json")} if where == "npu" else {})

    def losses(self, where):
        """Those printed as `step N loss X`, from a run that ended well; and the tasks it ran on NPUs."""
        log, result = self.file(where, "log"), self.file(where, "result")
        text = log.read_text(errors="replace") if log.exists() else ""
        assert result.exists(), f"{self.name} on {where} was killed or never started\n{text[-2000:]}"
        record = json.loads(result.read_text())
        assert record["status"] == 0, f"{self.name} failed on {where}\n{text[-2000:]}"
        steps = re.findall(r"^step (\d+) loss (\S+)$", text, re.MULTILINE)
        assert [int(step) for step, _ in steps] == list(range(1, len(steps) + 1)), text
        return [float(loss) for _, loss in steps], record["tasks"]


def train(cases, framework, where):
    orders = [c.order(where) for c in cases if c.framework == framework and (where == "cpu" or c.migrated)]
    if not orders:
        return
    environment = os.environ | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "TF_CPP_MIN_LOG_LEVEL": "2"}
    if where == "npu" and importlib.util.find_spec("npu_device") is None:
        environment["PYTHONPATH"] = f"{binary.ROOT / 'adapters/tensorflow'}:{environment.get('PYTHONPATH', '')}"
    environment["PYTHONPATH"] = f"{binary.ROOT / 'tools'}:{environment.get('PYTHONPATH', '')}"
    command = [sys.executable, str(HERE / "train.py"), ",".join(LOADED[framework, where])]
    subprocess.run(command, input=json.dumps(orders), env=environment, text=True, timeout=1800, check=True)


@pytest.fixture(scope="module")
def cases(request, tmp_path_factory):
    """The scripts that were asked for, migrated and trained."""
    wanted = {item.callspec.params["name"] for item in request.session.items if item.module is request.module}
    folder = tmp_path_factory.mktemp("scripts")
    found = {name: Case(name, folder) for name in sorted(wanted)}
    with ThreadPoolExecutor(2) as two:
        list(two.map(Case.prepare, found.values()))
        list(two.map(lambda kind: train(found.values(), *kind), LOADED))
    return found


@pytest.mark.parametrize("name", CASES)
def test_is_migrated(cases, name):
    case = cases[name]
    assert case.run.returncode == 0, case.run.stdout
    assert case.migrated, f"there is not one {case.script.name} below {case.folder}/out\n{case.run.stdout}"
    before, after = case.script.read_bytes(), case.migrated.read_bytes()
    assert golden.difference(before, after).decode() == golden.path(case.script).read_text()
    assert golden.difference(before, after) == golden.path(case.script).read_bytes()
    compile(after, case.script.name, "exec")
    assert (case.input / case.script.name).read_bytes() == case.script.read_bytes(), "the input was changed"
    files = {path.name for path in (case.folder / "out").rglob("*")}
    assert set(BESIDE[case.framework]) <= files
    assert ("failed_report.txt" in files) == (case.name in KEEPS_HOROVOD)
    run, again = case.migrate(case.migrated.parent, case.folder / "again")
    assert run.returncode == 0, run.stdout
    assert again and again.read_bytes() == case.migrated.read_bytes(), "a second migration changes something"


@pytest.mark.parametrize("name", golden.OPTIONS)
def test_what_it_names_is_there(cases, name):
    pytest.importorskip("tensorflow")
    unknown = known.unresolved(cases[name].migrated.read_text(), tf1="--tf1" in golden.OPTIONS[name])
    assert unknown == KEEPS_HOROVOD.get(name, set())


@pytest.mark.parametrize("name", TRAINED)
def test_trains_like_the_script_on_the_cpu(cases, name):
    case = cases[name]
    assert case.migrated, f"{name} was not migrated"
    theirs, stock = case.losses("cpu")
    ours, tasks = case.losses("npu")
    assert stock is None, "the CPU's run had our library"
    assert len(theirs) == len(ours) >= 3
    for step, (n, c) in enumerate(zip(ours, theirs, strict=True), 1):
        print(f"{name}: step {step}: NPU {n:.8g}  CPU {c:.8g}  differs {abs(n - c):.1e}")
        assert abs(n - c) <= (0.02 * abs(c) if name in HALF else 1e-5 * step)
    assert len(set(theirs)) > 1
    {"tensorflow": steps_were_compiled, "torch": tasks_were_run}[case.framework](case, tasks)


def steps_were_compiled(case, _):
    """The train step went to the NPU as a whole."""
    report = case.folder / "report.json"
    assert report.exists(), f"{case.name} never opened the NPU"
    functions = json.loads(report.read_text())["functions"]
    steps = [f for f in functions if f["name"].startswith("__inference_train_")]
    assert steps and all(f["nodes"] > 50 for f in steps), functions
    assert {host["op"] for f in steps for host in f["host"]} <= FEED


def tasks_were_run(case, tasks):
    assert (tasks or 0) >= 60, f"{case.name} ran {tasks or 'no'} tasks on the NPU"
