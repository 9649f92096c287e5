# SPDX-License-Identifier: Apache-2.0
"""Scripts of TensorFlow 1 in the style of public tutorials (scripts/), as they are and on the NPU: with two lines in
front, or migrated where they train on several devices; some also as TensorFlow 1.15 wrote them, migrated by the tool
for it. What they print must agree as the house compares free runs: within 1e-5 a step (of numbers beyond 1, relative),
or three times what TensorFlow's own CPU differs from itself with and without oneDNN, and, where that is not enough, on
one thread (a DCGAN's losses then move by 1e-3 in six steps). The report must show that the steps ran on the NPU."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("npu_device.session")

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1]
SCRIPTS = {path.stem: path for path in sorted((HERE / "scripts").glob("*.py"))}
LINES = "import npu_device\nnpu_device.compat.enable_v1()\n"
MIGRATED = {"horovod_monitored": ["-c", "-d", "horovod"], "mirrored_estimator": ["-c", "-d", "tf_strategy"]}
OF_OLD = ["estimator_cnn", "keras_session", "lenet_layers", "lstm_dynamic_rnn", "monitored_session", "saver_restore"]
CASES = [*SCRIPTS, *[f"{name}-tf1" for name in OF_OLD]]
# Where a script is run, and the environment there. The CPU's runs have a stock TensorFlow, without our packages.
CPU = {"TF_ENABLE_ONEDNN_OPTS": "1", "PYTHONPATH": str(HERE / "one_process")}
WHERE = {"cpu": CPU, "npu": {}}
# Other settings of the CPU runs, for cases where its numbers differ by more than 1e-5 a step.
OTHERS = {"plain": CPU | {"TF_ENABLE_ONEDNN_OPTS": "0"}, "one_thread": CPU | {"TF_NUM_INTRAOP_THREADS": "1"}}
# What trains and infers; the host may feed, read and write files, keep tables of strings and call Python.
COMPUTES = re.compile(r"(Batch)?MatMul|Conv[23]D|DepthwiseConv|FusedBatchNorm|.*Softmax|Bias|Relu|Tanh|Sigmoid|.*Apply")
PRINTED = re.compile(r"^([A-Za-z]\w*)(?:\[(\d+)\])? (\S+)$", re.MULTILINE)


def numbers(text):
    """{(name, step or None): number} of lines "name[step] number" and "name number"."""
    found = {}
    for name, step, number in PRINTED.findall(text):
        try:
            found[name, int(step) if step else None] = float(number)
        except ValueError:
            continue  # a sentence of two words
    return found


def stem(case):
    """The script of a case."""
    return case.removesuffix("-tf1")


def as_of_old(text):
    """The script as TensorFlow 1.15 runs it."""
    text = text.replace("import tensorflow.compat.v1 as tf", "import tensorflow as tf")
    return text.replace("tf.disable_v2_behavior()\n", "")


def allowed(cpu, others, step):
    """By how much an NPU's number may differ: see the house's rule for free runs."""
    return max([1e-5 * step * max(1.0, abs(cpu)), *(3 * abs(cpu - other) for other in others)])


def differences(cpu, others, npu):
    """[(name, step, of the CPU, of the NPU, difference, allowed)]; final numbers count as those of the last step."""
    last = max((step for _, step in cpu if step), default=1)
    rows = []
    for (name, step), value in cpu.items():
        limit = allowed(value, [other[name, step] for other in others], step or last)
        rows.append((name, step, value, npu[name, step], abs(value - npu[name, step]), limit))
    return rows


class Runs:
    """The cases that were asked for, run everywhere below `folder`: on the CPU their scripts."""

    def __init__(self, cases, folder):
        self.cases, self.folder = cases, folder
        for case in cases:
            (folder / case).mkdir()
            self.write(case)
        with ThreadPoolExecutor(2) as two:
            list(two.map(self.run, WHERE))

    def script(self, case):
        """The one for the NPU."""
        return self.folder / case / f"{stem(case)}.py"

    def write(self, case):
        text = SCRIPTS[stem(case)].read_text()
        if case in MIGRATED:
            return self.migrate(case, text, MIGRATED[case])
        if case != stem(case):
            return self.migrate(case, as_of_old(text), ["--tf1"])
        return self.script(case).write_text(LINES + text)

    def migrate(self, case, text, options):
        source = self.folder / case / "source.py"
        source.write_text(text)
        command = [sys.executable, "-m", "anynpu", "migrate", source, "-o", self.script(case), *options]
        done = subprocess.run(command, env=self.environment(), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def environment(self, **more):
        paths = [more.pop("PYTHONPATH", ""), str(TESTS.parent / "tools"), os.environ.get("PYTHONPATH", "")]
        if importlib.util.find_spec("npu_device").origin.startswith(str(TESTS.parent / "adapters")):
            paths.append(str(TESTS.parent / "adapters/tensorflow"))  # not installed
        return os.environ | {"PYTHONPATH": ":".join(filter(None, paths)), "TF_CPP_MIN_LOG_LEVEL": "2"} | more

    def place(self, case, where):
        return self.folder / (case if where == "npu" else stem(case)) / where

    def order(self, case, where):
        folder = self.place(case, where)
        folder.mkdir(parents=True)
        script = self.script(case) if where == "npu" else SCRIPTS[case]
        order = {"script": str(script), "folder": str(folder)}
        order |= {kind: str(folder / kind) for kind in ("log", "result")}
        return order | ({"report": str(folder / "report.json")} if where == "npu" else {})

    def run(self, where):
        cases = self.cases if where == "npu" else sorted({stem(case) for case in self.cases})
        self.run_cases(cases, where, WHERE[where])

    def run_cases(self, cases, where, environment):
        """Each in a process of its own; TensorFlow is loaded once for all of them."""
        orders = json.dumps([self.order(case, where) for case in cases])
        command = [sys.executable, TESTS / "migrate/train.py", "tensorflow"]
        subprocess.run(command, input=orders, env=self.environment(**environment), text=True, check=True)

    def printed(self, case, where):
        """What a run that ended well printed; and how many tasks NPUs had."""
        folder = self.place(case, where)
        log = (folder / "log").read_text(errors="replace")
        assert (folder / "result").exists(), f"{case} on {where} was killed or never started\n{log[-3000:]}"
        result = json.loads((folder / "result").read_text())
        assert result["status"] == 0, f"{case} failed on {where}\n{log[-3000:]}"
        return numbers(log), result["tasks"]

    def report(self, case):
        path = self.place(case, "npu") / "report.json"
        assert path.exists(), f"{case} never opened the NPU"
        return json.loads(path.read_text())["functions"]


@pytest.fixture(scope="module")
def runs(request, tmp_path_factory):
    wanted = {item.callspec.params["name"] for item in request.session.items if "runs" in item.fixturenames}
    return Runs(sorted(wanted), tmp_path_factory.mktemp("scripts"))


@pytest.mark.parametrize("name", CASES)
def test_prints_what_the_cpu_prints(runs, name):
    cpu, stock = runs.printed(name, "cpu")
    npu, _ = runs.printed(name, "npu")
    assert stock is None, "the CPU's run had our library"
    assert len(cpu) >= 3 and list(cpu) == list(npu)
    others, rows = [], differences(cpu, [], npu)
    for where, environment in OTHERS.items():
        if all(row[4] <= row[5] for row in rows):
            break
        if not runs.place(name, where).exists():
            runs.run_cases([stem(name)], where, environment)
        others.append(runs.printed(name, where)[0])
        rows = differences(cpu, others, npu)
    for what, step, value, ours, difference, limit in rows:
        print(f"{name}: {what} {step or ''}: CPU {value:.8g}  NPU {ours:.8g}  differs {difference:.1e} of {limit:.1e}")
    assert not [row for row in rows if not row[4] <= row[5]]


@pytest.mark.parametrize("name", CASES)
def test_the_steps_run_on_the_npu(runs, name):
    runs.printed(name, "npu")
    functions = runs.report(name)
    computing = [host["op"] for function in functions for host in function["host"] if COMPUTES.match(host["op"])]
    native, host = (sum(function[kind] for function in functions) for kind in ("native_nodes", "host_nodes"))
    print(f"{name}: {len(functions)} functions, {native} nodes on the NPU, {host} on the host")
    assert native >= 10 and not computing


def test_a_number_that_differs_is_seen():
    cpu = numbers("loss[1] 1.5\nloss[2] 1.25\naccuracy 0.75\nall is well\n")
    assert cpu == {("loss", 1): 1.5, ("loss", 2): 1.25, ("accuracy", None): 0.75}
    moved = cpu | {("loss", 2): 1.25004}
    assert [row[:2] for row in differences(cpu, [cpu], moved) if row[4] > row[5]] == [("loss", 2)]
    assert not [row for row in differences(cpu, [moved], moved) if row[4] > row[5]], "the CPU differs as much itself"
    with pytest.raises(KeyError):
        differences(cpu, [cpu], {("loss", 1): 1.5})
