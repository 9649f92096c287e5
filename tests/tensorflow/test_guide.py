# SPDX-License-Identifier: Apache-2.0
"""The vendor's guide in small: what its chapters 6, 9.1, 9.2, 10.2 and 11.1.1 write (guide/*.py) runs as it says, on
both kinds of SoC, and trains as the scripts without the guide's lines do on TensorFlow's CPU. Python is forked for each
script from one that has loaded TensorFlow (tests/migrate/train.py)."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import npu_device as npu
import numpy as np
import pytest
import tensorflow as tf
import test_precision

HERE = Path(__file__).resolve().parent
FIRST, SECOND = "Ascend910A", "Ascend910B1"
LOOP, STEPS, BATCH = 32, 128, 2
STEPS_OF_THE_LOOP, LARGE = 100, 47  # of guide/loop_sinking.py


@dataclass
class Run:
    script: str
    arguments: list = field(default_factory=list)
    variables: dict = field(default_factory=dict)

    def on(self, soc, **variables):
        return Run(self.script, self.arguments, self.variables | variables | {"ANYNPU_SOC": soc})


def resnet(*more, records="{records}", steps=STEPS, loop=LOOP):
    """The command of 10.2.7."""
    arguments = [f"--data_dir={records}", f"--train_steps={steps}", "--distribution_strategy=one_device",
                 f"--steps_per_loop={loop}", f"--batch_size={BATCH}", "--skip_eval", *more]  # fmt: skip
    return Run("resnet_ctl", arguments, {"NPU_LOOP_SIZE": str(loop)})


SUNK, STEPWISE = resnet("--use_tf_while_loop=true"), resnet("--use_tf_while_loop=false", steps=LOOP)
BY_FIT, BY_MINIMIZE = Run("bert_fit"), Run("bert_fit", ["--by_minimize"])
ON_CPU = {"resnet": SUNK, "sinking": Run("loop_sinking"), "fit": BY_FIT, "minimize": BY_MINIMIZE}
ON_NPU = {
    "resnet": SUNK.on(SECOND), "resnet 910A": SUNK.on(FIRST), "stepwise": STEPWISE.on(SECOND),
    "sinking": Run("loop_sinking").on(SECOND), "sinking 910A": Run("loop_sinking").on(FIRST),
    "fit": BY_FIT.on(SECOND), "fit 910A": BY_FIT.on(FIRST), "minimize": BY_MINIMIZE.on(SECOND),
    "interface": Run("interface_samples").on(SECOND),
}  # fmt: skip


def without_the_guides_lines(text):
    lines = []
    for line in text.splitlines():
        was = re.fullmatch(r"(\s*)\S.*  # was: (.*)", line)
        lines.append("" if line.endswith("  # added") else was[1] + was[2] if was else line)
    plain = "\n".join(lines) + "\n"
    assert not re.search(r"\bnpu\.", plain), "a line is not marked"
    return plain


def write_records(folder):
    rng = np.random.default_rng(7)
    with tf.device("CPU"):
        for number in range(4):
            with tf.io.TFRecordWriter(str(folder / f"train-{number}")) as out:
                for label in rng.integers(0, 10, 16):
                    pixels = rng.integers(0, 80, (16, 16, 3)) + np.array([label * 17, 60, 170 - label * 17])
                    image = tf.io.encode_jpeg(pixels.clip(0, 255).astype("uint8")).numpy()
                    features = {
                        "image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),
                        "image/class/label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
                    }
                    out.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())


class Done:
    """What a run printed as JSON, its log and the report of its functions."""

    def __init__(self, folder):
        self.log = (folder / "log").read_text(errors="replace") if (folder / "log").exists() else ""
        assert (folder / "result").exists(), f"{folder.name} was killed or never started\n{self.log[-2000:]}"
        assert json.loads((folder / "result").read_text())["status"] == 0, f"{folder.name} failed\n{self.log[-4000:]}"
        report = folder / "report.json"
        self.functions = json.loads(report.read_text())["functions"] if report.exists() else []
        self.told = json.loads(next(line for line in self.log.splitlines() if line.startswith('{"')))

    def __getitem__(self, name):
        return self.told[name]


def start(runs, folder, npu_lines):
    """A process for all of these; gives it, waiting for nothing."""
    orders = []
    for name, run in runs.items():
        place = folder / ("npu" if npu_lines else "cpu") / name
        place.mkdir(parents=True)
        text = (HERE / "guide" / f"{run.script}.py").read_text()
        script = place / f"{run.script}.py"
        script.write_text(text if npu_lines else without_the_guides_lines(text))
        order = {
            "script": str(script),
            "folder": str(place),
            "log": str(place / "log"),
            "result": str(place / "result"),
        }
        order["arguments"] = [argument.replace("{records}", str(folder)) for argument in run.arguments]
        if npu_lines:
            order |= {"report": str(place / "report.json"), "environment": run.variables}
        orders.append(order)
    packages = [str(Path(npu.__file__).parents[1]), str(HERE.parents[1] / "tools"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(packages), "TF_CPP_MIN_LOG_LEVEL": "0"}
    (folder / f"orders{npu_lines}.json").write_text(json.dumps(orders))
    with open(folder / f"orders{npu_lines}.json") as file:
        command = [sys.executable, str(HERE.parent / "migrate/train.py"), "tensorflow,keras.api._v2.keras"]
        return subprocess.Popen(command, stdin=file, env=environment)


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    """{name: what happened} of the runs on the CPU and of those on the NPU."""
    folder = tmp_path_factory.mktemp("guide")
    write_records(folder)
    for process in [start(ON_CPU, folder, False), start(ON_NPU, folder, True)]:
        assert process.wait(600) == 0
    return [{name: Done(folder / where / name) for name in runs} for where, runs in (("cpu", ON_CPU), ("npu", ON_NPU))]


def apart(ours, theirs):
    return max(abs(a - b) / abs(b) for a, b in zip(ours, theirs, strict=True))


def losses_of_loops(done):
    return [loop["train_loss"] for loop in done["loops"]]


@pytest.mark.promise("the training samples of the vendor's migration guide, in small")
def test_the_sample_of_migration_by_hand_trains_on_the_npu(guide):
    (cpu, ours) = (where["resnet"] for where in guide)
    assert "NPU:0" in ours["place"] and ours["steps"] == cpu["steps"] == STEPS
    print(
        "resnet, loops of 32 steps: CPU",
        losses_of_loops(cpu),
        "apart",
        apart(losses_of_loops(ours), losses_of_loops(cpu)),
    )
    assert apart(losses_of_loops(ours), losses_of_loops(cpu)) <= 1e-3
    assert losses_of_loops(cpu)[-1] < losses_of_loops(cpu)[0]
    (body,) = [f for f in ours.functions if f["nodes"] > 100]
    assert "while_body" in body["name"] and {host["op"] for host in body["host"]} == {"IteratorGetNext"}
    assert "OneDeviceStrategy on device:CPU:0 trains on" in ours.log


def test_its_log_has_the_lines_of_the_guide(guide):
    log = guide[1]["resnet"].log
    for line in (
        r"Npu device instance /job:localhost/replica:0/task:0/device:NPU:0 created",
        r"Graph __inference_loop_fn_\d+ can loop: true",
        r"Set npu loop size to 32",
        r"Start consume iterator resource AnonymousIterator\d 32 times",
        r"Start run ge graph \d+ pin to cpu, loop size 32",
        r"Iterator resource AnonymousIterator\d consume 32 times done with status OK",
        r"Stop tensorflow model parser succeed",
        r"Stop graph engine succeed",
        r"Skip all reduce as current process is not npu cluster worker",
    ):
        assert re.search(line, log), line
    log = guide[1]["sinking"].log  # whose iterator is no strategy's
    for line in (
        "Iterator resource provider for AnonymousIterator0 created",
        "AnonymousIterator0 consume 30 times done",
    ):
        assert line in log, line


def test_a_sunk_loop_gives_the_bits_of_single_steps(guide):
    assert guide[1]["stepwise"]["loops"] == guide[1]["resnet"]["loops"][:1]


def test_it_trains_where_products_are_float16(guide):
    cpu, ours = guide[0]["resnet"], guide[1]["resnet 910A"]
    print("resnet 910A: apart", apart(losses_of_loops(ours), losses_of_loops(cpu)))
    assert apart(losses_of_loops(ours), losses_of_loops(cpu)) <= 0.02


@pytest.mark.parametrize("name", ["sinking", "sinking 910A"])
def test_loops_of_another_size_with_a_scaled_loss(guide, name):
    cpu, ours = guide[0]["sinking"], guide[1][name]
    assert ours["loops"] == [30, 30, 30, 10] and ours["iterations"] == STEPS_OF_THE_LOOP
    assert ours["scales"] == cpu["scales"], "growth, back-off and the step that is left out are Keras's"
    assert ours["scales"][LARGE - 1 : LARGE + 1] == [4096, 2048] and ours["scales"][-1] == 8192
    good = [i for i in range(STEPS_OF_THE_LOOP) if i != LARGE]
    distance = apart([ours["losses"][i] for i in good], [cpu["losses"][i] for i in good])
    print(f"{name}: 99 losses, apart at most {distance:.1e}")
    assert distance <= 0.02 and ours["largest"] < 100
    assert re.findall(r"Npu loop size is set to (\d+)", ours.log) == ["30", "10"]
    assert ": W core/iterator" not in ours.log, "a loop of another size than the one told"


def test_the_overflow_is_told_with_its_operator_and_step(guide):
    (line,) = [line for line in guide[1]["sinking 910A"].log.splitlines() if "overflowed in step" in line]
    print(line)
    assert f"overflowed in step {LARGE}:" in line and "MatMulV2 node" in line and "half/MatMul" in line
    assert "overflowed" not in guide[1]["sinking"].log


@pytest.mark.parametrize("name", ["fit", "fit 910A", "minimize"])
def test_an_encoder_in_automatic_mixed_precision_with_the_npus_gelu(guide, name):
    cpu, ours = guide[0][name.split()[0]], guide[1][name]
    assert len(ours["losses"]) == len(cpu["losses"]) == 32
    distance = apart(ours["losses"], cpu["losses"])
    print(f"{name}: 32 losses from {cpu['losses'][0]:.3f} to {cpu['losses'][-1]:.3f}, apart at most {distance:.1e}")
    assert distance <= 0.02 and ours["losses"][-1] < ours["losses"][0]
    (step,) = [f for f in ours.functions if "train_" in f["name"] and len(f["precision"]) > 50]
    reduced = {node["op"] for node in step["precision"] if node["dtype"] == "float16"}
    assert {"MatMul", "BatchMatMulV2"} <= reduced and {host["op"] for host in step["host"]} <= {"IteratorGetNext"}


def test_the_lists_that_chapter_9_1_shows(tmp_path):
    """Its operator A is a product here, white by default: made black in two ways, and gray where it is only removed."""
    add, remove = {"black-list": {"to-add": ["MatMulV2"]}}, {"white-list": {"to-remove": ["MatMulV2"]}}
    cases = []
    for name, lists in (("a", add), ("b", add | remove), ("c", remove)):
        (tmp_path / name).write_text(json.dumps(lists))
        options = {"precision_mode_v2": "mixed_float16", "modify_mixlist": str(tmp_path / name)}
        cases.append({"subject": "chain", "options": options})
    for told, group in zip(test_precision.run(cases)[1], ("black", "black", "gray"), strict=True):
        (product,) = [node for node in told["nodes"] if node["node"] == "first"]
        assert product["dtype"] == "float32" and product["why"].startswith(f"{group} list by modify_mixlist"), product


def test_the_calls_that_the_guide_shows(guide):
    told = guide[1]["interface"]
    assert told["all_reduce"] == [1.0, 1.0] and told["broadcast"] and told["rebatch"] == [4, 3]
    assert told["keep_dtype"] == 2 + 32 and told["optimizer"] and told["inf_nan"]
    np.testing.assert_allclose(told["gelu"], [-0.158655, 0, 1.954499], atol=1e-5)
    assert "Adam(lr=0.1): this TensorFlow ignores `lr`" in told.log
