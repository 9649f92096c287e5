# SPDX-License-Identifier: Apache-2.0
"""The vendor's guides to TensorFlow 1 as they are written, in small (guide/): their examples train on the NPU, their
dump flows leave the files that they describe, and the lines are there which they have their readers look for."""

import csv
import re
import subprocess
import sys

import forked
import numpy as np
import pytest

pytest.importorskip("npu_device.session")

GUIDE = forked.HERE / "guide"
EXAMPLES = ["estimator", "sess_run", "keras_session", "horovod_by_hand"]
FLOWS = [f"{mode}-{how}" for mode in ("sess_run", "estimator") for how in ("migrated", "by_hand")] + ["keras-migrated"]


@pytest.fixture(scope="module")
def ran(request, tmp_path_factory):
    """The folder of the cases that were asked for, once they have run."""
    folder = tmp_path_factory.mktemp("guides")
    wanted = {item.callspec.params["name"] for item in request.session.items if "ran" in item.fixturenames}
    cases = {name: (GUIDE / f"{name}.py",) for name in EXAMPLES} | {
        name: (GUIDE / "dump_flow.py", *name.split("-")) for name in FLOWS
    }
    forked.run(folder, {name: case for name, case in cases.items() if name in wanted})
    return folder


def losses(text):
    return [float(number) for number in re.findall(r"^loss (\S+)$", text, re.MULTILINE)]


@pytest.mark.promise("the guide's examples of sessions, estimators, Keras and Horovod train as they are written")
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_trains(ran, name):
    text = forked.log(ran, name)
    assert re.search(r"The model has been compiled on the Ascend AI processor, current graph id is: \d+", text)
    if name == "estimator":
        assert float(re.search(r"^accuracy (\S+)$", text, re.MULTILINE)[1]) > 0.9 and "predicted 64" in text
        steps = [int(step) for step in re.findall(r"global_step\.\.\.(\d+)", text)]
        assert steps == list(range(1, 41)) and "NPUCheckpointSaverHook end..." in text
    else:
        assert losses(text)[-1] < 0.5 * losses(text)[0], losses(text)


def graph_folders(folder):
    """Those of {dump_path}/{time}/{device}/{graph}/{number of the graph} in which steps are."""
    (time,) = (folder / "files").iterdir()
    assert re.fullmatch(r"\d{14}", time.name) and [one.name for one in time.iterdir()] == ["0"]
    return sorted(number for graph in (time / "0").iterdir() for number in graph.iterdir())


def trained(folder):
    """The folder of the graph that was trained: the one that has all the steps that were asked for."""
    (found,) = [one for one in graph_folders(folder) if {step.name for step in one.iterdir()} == {"0", "5", "10"}]
    return found


def compared(folder, mine, golden, graph):
    """The largest errors of tensors in two folders of dump files, by the vendor's comparison and the graph's text."""
    folder.mkdir()
    command = [sys.executable, "-m", "anynpu", "dump", "compare"]
    command += ["-m", mine, "-g", golden, "-f", graph, "-cf", graph, "-out", folder]
    done = subprocess.run(command, capture_output=True, text=True, env=forked.environment())
    assert done.returncode in (0, 2), done.stderr
    (path,) = folder.glob("result_*.csv")
    with open(path, newline="") as file:
        errors = [row["MaxAbsoluteError"] for row in csv.DictReader(file)]
    return [float(error) for error in errors if error != "NaN"]  # which stands where there is no file


@pytest.mark.promise("the guide's dump flows of sessions, estimators and Keras leave the files that it describes")
@pytest.mark.parametrize("name", FLOWS)
def test_a_dump_flow_leaves_the_files_that_the_guide_describes(ran, tmp_path, name):
    forked.log(ran, name)
    steps = trained(ran / name)
    texts = {path: path.read_text() for path in (ran / name / "graphs").glob("*_0/ge_proto_*_Build.txt")}
    texts = {path: text for path, text in texts.items() if f'  name: "{steps.parent.name}"\n' in text}
    fed = any("Iterator" in text for text in texts.values())
    assert fed == (not name.startswith("keras")), "the guide finds its graph by grep"
    graph = max(path for path, text in texts.items() if "hidden/MatMul" in text)
    files = [path.name for path in (steps / "0").iterdir()]
    assert len(files) >= 2 and all(re.fullmatch(r"\w+\.\w+\.\d+\.\d+\.\d+", one) for one in files), files
    assert {one.split(".")[1] for one in files} == {path.name.split(".")[1] for path in (steps / "10").iterdir()}

    same = compared(tmp_path / "same", steps / "0", steps / "0", graph)
    assert len(same) >= 4 and set(same) == {0.0}
    assert max(compared(tmp_path / "later", steps / "5", steps / "10", graph)) > 0, "weights have moved"


@pytest.mark.parametrize("name", ["sess_run-by_hand"])
def test_a_file_has_what_the_layer_read(ran, name):
    forked.log(ran, name)
    x = np.linspace(-1, 1, 96).reshape(24, 4).astype(np.float32)
    found = []
    for step in ("0", "5", "10"):
        contents = [path.read_bytes() for path in (trained(ran / name) / step).iterdir()]
        found.append([k for k in range(3) if any(x[8 * k : 8 * k + 8].tobytes() in one for one in contents)])
    assert found == [[0], [2], [1]], "batches go round: that of a step is step modulo 3"


def test_a_script_is_migrated_and_trained_as_the_walkthrough_does(tmp_path):
    """python3 main.py -i SCRIPTS -r REPORTS, then the script, for a Horovod script of TensorFlow 1.15."""
    text = (forked.HERE / "scripts/horovod_monitored.py").read_text()
    text = text.replace("import tensorflow.compat.v1 as tf", "import tensorflow as tf").replace(
        "tf.disable_v2_behavior()\n", ""
    )
    (tmp_path / "resnet").mkdir()
    (tmp_path / "resnet/train.py").write_text(text)
    command = [sys.executable, forked.migration(), "-i", tmp_path / "resnet", "-r", tmp_path, "-d", "horovod"]
    done = subprocess.run(command, capture_output=True, text=True, env=forked.environment())
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("report_npu_*"))) == 1
    (script,) = tmp_path.glob("output_npu_*/resnet_npu_*/train.py")
    made = script.read_text()
    assert "npu_distributed_optimizer_wrapper(opt)" in made and "NPUBroadcastGlobalVariablesHook(0" in made
    forked.run(tmp_path, {"walkthrough": (script,)})
    log = forked.log(tmp_path, "walkthrough")
    found = [float(loss) for loss in re.findall(r"^loss\[\d+\] (\S+)$", log, re.MULTILINE)]
    assert len(found) == 8 and min(found[4:]) < found[0], found
    assert "workers 1" in log


ASKED = """
import tensorflow as tf
import horovod.tensorflow as hvd
from horovod.common.util import env


def main(_):
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.INFO)
    with env(HOROVOD_STALL_CHECK_TIME_SECONDS="300"):
        hvd.init()
    v = tf.compat.v1.get_variable("v", initializer=float(hvd.size()))
    with tf.compat.v1.Session() as sess:
        sess.run(v.initializer)
        print("loss", sess.run(v * 2))


if __name__ == "__main__":
    tf.compat.v1.app.run()
"""
ENV = """
import contextlib


@contextlib.contextmanager
def env(**values):
    print("environment", values)
    yield
"""


def test_what_a_horovod_script_imports_beside_horovod_stays(tmp_path):
    """The guide's question 12.1: the name `env` went with its import, and scripts ended at it."""
    source = tmp_path / "train.py"
    source.write_text(ASKED)
    command = [sys.executable, "-m", "anynpu", "migrate", source, "-o", tmp_path / "made.py", "-c", "-d", "horovod"]
    done = subprocess.run(command, capture_output=True, text=True, env=forked.environment())
    assert done.returncode == 0 and "env in line" in done.stdout + done.stderr
    (tmp_path / "path/horovod/common").mkdir(parents=True)  # Horovod as far as the script asks for it
    for name, text in (("__init__", ""), ("common/__init__", ""), ("common/util", ENV)):
        (tmp_path / f"path/horovod/{name}.py").write_text(text)
    forked.run(tmp_path, {"asked": (tmp_path / "made.py",)}, PYTHONPATH=str(tmp_path / "path"))
    log = forked.log(tmp_path, "asked")
    assert "environment {'HOROVOD_STALL_CHECK_TIME_SECONDS': '300'}" in log and losses(log) == [2]
