# SPDX-License-Identifier: Apache-2.0
"""dump_config: the tensors of a training function's nodes as files, each case in a process of its own."""

import csv
import json
import os
import re
import struct
import subprocess
import sys

import numpy as np
import pytest

TRAIN = """
import sys
import numpy as np
import tensorflow as tf
import npu_device as npu
options = npu.global_options().dump_config
for name, value in {options!r}.items():
    setattr(options, name, value)
npu.open().as_default()
tf.random.set_seed(1)
w = tf.Variable(np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3), name="w")
optimizer = tf.keras.optimizers.SGD(0.1)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        logits = tf.matmul(x, w, name="logits")
        loss = tf.reduce_sum(tf.nn.relu(logits, name="kept"), name="total")
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    return loss

x = tf.constant(np.linspace(0, 1, 8, dtype=np.float32).reshape(2, 4))
print(" ".join(float(step(x)).hex() for _ in range(4)))
"""


def run(folder, **options):
    done = subprocess.run(
        [sys.executable, "-c", TRAIN.format(options=options)], cwd=folder, capture_output=True, text=True,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def graph_folder(folder):
    """The folder of the training function: {time}/{device}/{graph}/{number}."""
    (time,) = folder.iterdir()
    (graph,) = (time / "0").glob("*step*")
    (number,) = graph.iterdir()
    return graph.name, number


def names(folder):
    return sorted(path.name.split(".")[1] for path in folder.iterdir())


@pytest.fixture(scope="module")
def dumped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dump")
    (folder / "files").mkdir()
    losses = run(folder, enable_dump=True, dump_path=str(folder / "files"), dump_step="1|3", dump_mode="all")
    return folder, losses


@pytest.mark.promise("dump_config dumps tensors of the steps asked for, and the loss keeps every bit")
def test_the_steps_that_are_asked_for_are_written(dumped, tmp_path):
    folder, losses = dumped
    assert losses == run(tmp_path)
    _, number = graph_folder(folder / "files")
    assert sorted(path.name for path in number.iterdir()) == ["1", "3"]
    assert names(number / "1") == names(number / "3")
    assert any("logits" in name for name in names(number / "1"))


def test_folders_are_named_as_the_graphs_text_names_it(dumped):
    folder, _ = dumped
    graph, _ = graph_folder(folder / "files")
    texts = [path.read_text() for path in folder.glob("ge_proto_*_Build.txt")]
    assert graph in [re.search(r'^name: "(.*)"', text, re.MULTILINE)[1] for text in texts]


def test_a_product_has_what_it_read_and_wrote(dumped):
    folder, _ = dumped
    _, number = graph_folder(folder / "files")
    product = next(p for p in (number / "1").iterdir() if p.name.startswith("_FusedProduct."))
    content = product.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    numbers = np.frombuffer(content[8 + length :], np.float32)
    x, w, others = numbers[:8].reshape(2, 4), numbers[8:20].reshape(4, 3), numbers[20:].reshape(-1, 2, 3)
    np.testing.assert_array_equal(x, np.linspace(0, 1, 8, dtype=np.float32).reshape(2, 4))
    # It has taken the rectifier and its slope in, after which it is called.
    assert any(np.allclose(one, np.maximum(x @ w, 0), rtol=1e-6, atol=1e-6) for one in others)


def test_a_layer_is_found_by_the_name_of_what_a_fused_node_holds(tmp_path):
    (tmp_path / "files").mkdir()
    run(tmp_path, enable_dump=True, dump_path=str(tmp_path / "files"), dump_layer="kept", dump_data="stats")
    _, number = graph_folder(tmp_path / "files")
    assert sorted(path.name for path in number.iterdir()) == ["0", "1", "2", "3"]
    files = list((number / "0").iterdir())
    assert len(files) == 1 and files[0].name.endswith(".csv")


def results(folder, mine, golden):
    """The rows of a comparison of two folders."""
    done = subprocess.run(
        [sys.executable, "-m", "anynpu", "dump", "compare", "-m", str(mine), "-g", str(golden), "-out", str(folder)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode in (0, 2), done.stderr
    (path,) = folder.glob("result_*.csv")
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.promise(
    "dumps are compared operator by operator; the first that differs is the one that computed otherwise"
)
def test_what_differs_from_another_run_is_found(dumped, tmp_path):
    """The same script on other weights: only what depends on them differs."""
    folder, _ = dumped
    _, number = graph_folder(folder / "files")
    (tmp_path / "same").mkdir()
    same = results(tmp_path / "same", number / "1", number / "1")
    assert {row["MaxAbsoluteError"] for row in same} == {"0.000000"}
    (tmp_path / "next").mkdir()
    rows = results(tmp_path / "next", number / "1", number / "3")
    errors = {row["TensorIndex"]: float(row["MaxAbsoluteError"]) for row in rows}
    product = "gradient_tape_ReluGrad"  # the last node that the product of x and w has taken in
    assert errors[f"{product}:input:0"] == 0 and errors[f"{product}:input:1"] > 0 and errors[f"{product}:output:0"] > 0


OVERFLOW = """
import numpy as np
import tensorflow as tf
import npu_device as npu
npu.global_options().dump_config.enable_dump_debug = {debug!r}
npu.global_options().dump_config.dump_debug_mode = "aicore_overflow"
npu.global_options().dump_config.dump_path = "files"
npu.open().as_default()
if {saturates!r}:
    npu.set_device_sat_mode(0)

@tf.function
def step(x):
    scaled = tf.matmul(x, x, name="scaled")
    again = tf.matmul(scaled, x, name="again")
    return tf.reduce_sum(again, name="total")

x = np.diag(np.float32([2, 3]))
for largest in (1, 1e30):
    print(float(step(tf.constant(x * np.float32(largest)))))
"""


@pytest.mark.parametrize("saturates", [False, True])
@pytest.mark.promise("enable_dump_debug names the node that overflows first, with its step, and no bit changes")
def test_the_node_that_overflows_is_written(tmp_path, saturates):
    (tmp_path / "files").mkdir()
    told, plain = (
        subprocess.run(
            [sys.executable, "-c", OVERFLOW.format(debug=debug, saturates=saturates)], cwd=tmp_path,
            capture_output=True, text=True, env=os.environ | {"PYTHONWARNINGS": "ignore"},
        )
        for debug in (True, False)
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert told.stdout == plain.stdout
    texts = [json.loads(path.read_text()) for path in (tmp_path / "files").rglob("overflow_*.json")]
    first = min(texts, key=lambda text: text["task"])
    assert (first["op_name"], first["op_type"], first["step"]) == ("scaled", "MatMulV2", 1)
    assert first["results"][0]["infinities"] == 2
    if not saturates:
        assert len(texts) == 1
    folder = graph_folder(tmp_path / "files")[1] / "0"
    assert len(list(folder.glob("MatMulV2.scaled.*"))) == 1
    records = list(folder.glob("Opdebug.*"))
    assert len(records) == len(texts) and all(re.fullmatch(r"Opdebug\.Node_OpDebug(\.\d+){3}", p.name) for p in records)


FAILURE = """
import tensorflow as tf
import npu_device as npu
npu.global_options().enable_exception_dump = 1
npu.open().as_default()

@tf.function
def step(x, at):
    return tf.gather(x, at, name="looked_up")

try:
    print(step(tf.constant([1.0, 2.0]), tf.constant([7])))
except tf.errors.InvalidArgumentError as error:
    print("failed")
"""


@pytest.mark.promise("enable_exception_dump writes what an operator that failed had read")
def test_what_a_failed_node_had_read_is_written(tmp_path):
    env = {name: value for name, value in os.environ.items() if name != "ASCEND_WORK_PATH"}
    done = subprocess.run([sys.executable, "-c", FAILURE], cwd=tmp_path, capture_output=True, text=True, env=env)
    assert done.stdout.endswith("failed\n"), done.stdout + done.stderr
    files = list((tmp_path / "extra-info" / "data-dump" / "0").iterdir())
    assert [path.name.split(".")[1] for path in files] == ["looked_up"]
    assert struct.pack("<ff", 1, 2) in files[0].read_bytes()
