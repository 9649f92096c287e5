# SPDX-License-Identifier: Apache-2.0
"""tfdbg_ascend: what TensorFlow's own runs gave, and dumps of the NPU compared with it."""

import csv
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent


def run(script, *arguments, folder, **environment):
    done = subprocess.run(
        [sys.executable, *([str(script)] if isinstance(script, pathlib.Path) else ["-c", script]), *arguments],
        cwd=folder, capture_output=True, text=True,
        env=os.environ | {"PYTHONWARNINGS": "ignore", "TF_CPP_MIN_LOG_LEVEL": "2"} | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def dumped(model, side, folder, *more):
    folder.mkdir()
    (folder / "files").mkdir()
    run(HERE / "golden.py", model, side, str(folder / "files"), *more, folder=folder)
    return folder


@pytest.fixture(scope="module", params=["cnn", "encoder"])
def sides(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    mine = dumped(request.param, "npu", folder / "npu")
    return folder, mine, {e: dumped(request.param, "cpu", folder / e, e) / "files" for e in ("1e-3", "0.3")}


def compared(folder, mine, golden):
    """The rows of the outputs, in the order of execution."""
    (steps,) = mine.glob("files/*/0/*step*/*")
    (text,) = [p for p in mine.glob("ge_proto_*_Build.txt") if f'"{steps.parent.name}"' in p.read_text()[:200]]
    done = subprocess.run(
        [sys.executable, "-m", "anynpu", "dump", "compare", "-m", str(steps / "0"), "-g", str(golden), "-f", str(text),
         "-out", str(folder)], capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode in (0, 2), done.stdout + done.stderr
    (path,) = folder.glob("result_*.csv")
    with open(path, newline="") as file:
        return [row for row in csv.DictReader(file) if ":output:" in row["TensorIndex"]]


def numbers(rows, column):
    return [float(row[column]) for row in rows if row["MaxAbsoluteError"] not in ("", "NaN", "*")]


def test_nodes_of_the_npu_find_their_counterparts(sides, tmp_path):
    _, mine, golden = sides
    rows = [row for row in compared(tmp_path, mine, golden["1e-3"]) if "Apply" not in row["OpType"]]
    rows = [row for row in rows if "AssignAdd" not in row["OpType"]]  # what writes variables gives nothing on the CPU
    errors = numbers(rows, "MaxAbsoluteError")
    assert len(rows) >= 30 and len(errors) >= 0.95 * len(rows), [row["TensorIndex"] for row in rows]
    assert all(error < 1e-3 for error in errors)


def test_another_epsilon_shows_at_the_normalization_first(sides, tmp_path):
    _, mine, golden = sides
    rows = compared(tmp_path, mine, golden["0.3"])
    bad = [
        row for row in rows if row["MaxAbsoluteError"] not in ("", "NaN", "*") and float(row["MaxAbsoluteError"]) > 1e-2
    ]
    assert "norm" in bad[0]["TensorIndex"] and "moments" not in bad[0]["TensorIndex"], bad[0]
    assert "add" in bad[0]["GroundTruth"]


FUNCTIONS = """
import numpy as np
import tensorflow as tf
import tfdbg_ascend as dbg
assert dbg.get_dump_switch() and dbg.get_dump_path() == {folder!r}
dbg.disable()
assert not dbg.get_dump_switch()
w = tf.Variable(np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3))

@tf.function
def dense(x):
    return tf.nn.relu(tf.matmul(x, w, name="product"))

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        both = dense(x) + dense(x * 2.0)
        _, turned = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.sin(v, name="turn")), [0, both])
        taken = tf.cond(tf.reduce_sum(turned) > 0, lambda: tf.cos(turned), lambda: tf.exp(turned, name="other"))
        small = tf.cast(taken, tf.bfloat16, name="small")
        tf.exp(taken, name="unused")
        loss = tf.reduce_sum(tf.cast(small, tf.float32), name="loss")
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss

x = tf.constant(np.linspace(0, 1, 8, dtype=np.float32).reshape(2, 4))
{body}
"""


def functions(folder, body, **environment):
    folder.mkdir(exist_ok=True)
    return run(FUNCTIONS.format(folder=str(folder), body=body), folder=folder, **environment)


def arrays(folder):
    """The arrays in a folder by operator and output, in the order in which they were made."""
    out = {}
    for path in sorted(folder.glob("*.npy"), key=lambda p: int(p.name.split(".")[-2])):
        out.setdefault(path.name.rsplit(".", 2)[0], []).append(np.load(path))
    return out


def test_calls_loops_branches_and_eager_operators_are_dumped(tmp_path):
    body = (
        "step(x)\ndbg.enable()\ndbg.set_dump_path('some/golden')\nstep(x)\ny = tf.transpose(x)\ndbg.disable()\nstep(x)"
    )
    functions(tmp_path, body)
    assert not list(tmp_path.glob("*.npy"))
    found = arrays(tmp_path / "some/golden")
    first, second = (found[f"{call}_product.0"][0] for call in ("StatefulPartitionedCall", "StatefulPartitionedCall_1"))
    np.testing.assert_array_equal(2 * first, second)
    before, *_, after = found["while_turn.0"]
    assert len(found["while_turn.0"]) == 3
    np.testing.assert_allclose(after, np.sin(np.sin(before)), rtol=1e-6)
    np.testing.assert_allclose(found["small.0"][0], np.cos(after), rtol=1e-2)
    assert found["small.0"][0].dtype == np.float32 and found["loss.0"][0].shape == ()
    assert not [name for name in found if "other" in name or "unused" in name]
    assert any("PartitionedCall_1_gradients_product_grad" in name for name in found)
    np.testing.assert_array_equal(found["Transpose.0"][0], np.linspace(0, 1, 8, dtype=np.float32).reshape(2, 4).T)
    assert all(len(values) == 1 for name, values in found.items() if "product" in name)


def test_it_is_on_from_the_import_and_nothing_is_lost_at_exit(tmp_path):
    run("import tfdbg_ascend, tensorflow as tf\n"
        "f = tf.function(lambda x: [tf.identity(x + i, name=f'n{i}') for i in range(500)])\n"
        "f(tf.ones([2000]))", folder=tmp_path)  # fmt: skip
    found = arrays(tmp_path)
    assert all(found[f"n{i}.0"][0][0] == i + 1 for i in range(500)) and not list(tmp_path.glob(".*"))


CALLBACK = """
import numpy as np
import tensorflow as tf
import tfdbg_ascend as dbg

class DumpConfig(tf.keras.callbacks.Callback):
    def on_batch_begin(self, batch, logs={}):
        if batch == 4:
            dbg.enable()
            dbg.set_dump_path("dump4")
        else:
            dbg.disable()

model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(4,), name="only")])
model.compile("sgd", "mse")
x = np.linspace(0, 1, 24 * 4, dtype=np.float32).reshape(24, 4)
model.fit(x, x[:, :3], batch_size=4, shuffle=False, verbose=0, callbacks=[DumpConfig()])
"""


def test_a_callback_of_keras_dumps_one_batch(tmp_path):
    """The guide's second sample; the model is made while the dump is on, as it is from the import."""
    run(CALLBACK, folder=tmp_path)
    found = arrays(tmp_path / "dump4")
    (name,) = (name for name in found if name.endswith("sequential_only_MatMul.0"))
    assert len(found[name]) == 1 and found[name][0].shape == (4, 3)
    assert "AddV2.0" in arrays(tmp_path)  # of an initializer, which runs by itself


def test_losses_are_the_same_and_xla_is_left_out(tmp_path):
    body = """
compiled = tf.function(lambda x: tf.tanh(tf.matmul(x, w), name="end"), jit_compile=True)
print(float(step(x)).hex())
{}
print(float(step(x)).hex())
compiled(x)
"""
    on = functions(tmp_path / "on", body.format("dbg.enable()")).stdout
    assert on == functions(tmp_path / "off", body.format("")).stdout
    assert "end.0" in arrays(tmp_path / "on") and not list((tmp_path / "off").glob("*.npy"))


def test_a_file_that_cannot_be_written_ends_the_dump_and_not_the_program(tmp_path):
    body = """
import os
dbg.set_dump_path("golden")
os.rmdir("golden")
open("golden", "w").close()
dbg.enable()
print(float(step(x)) + float(step(x)))
tf.identity(x)
dbg.disable()
assert not dbg.get_dump_switch()
for bad in ("golden", "golden/below", "/proc/none"):
    try:
        dbg.set_dump_path(bad)
        raise SystemExit("taken: " + bad)
    except ValueError as e:
        assert "choose another folder" in str(e), e
dbg.set_dump_path("other")
dbg.enable()
step(x)
"""
    done = functions(tmp_path, body)
    told = [line for line in done.stderr.splitlines() if "tfdbg_ascend" in line]
    assert len(told) == 1 and "the dump has ended" in told[0] and str(tmp_path / "golden") in told[0]
    assert "loss.0" in arrays(tmp_path / "other")


def test_long_names_are_numbers_that_mapping_csv_explains(tmp_path):
    functions(tmp_path, f"dbg.enable()\ntf.function(lambda x: tf.sin(x, name={'n' * 300!r}))(x)")
    lines = dict(line.split(",") for line in (tmp_path / "mapping.csv").read_text().splitlines())
    (file,) = [file for file, name in lines.items() if name.startswith("n" * 300 + ".0.")]
    np.testing.assert_allclose(np.load(tmp_path / file), np.sin(np.linspace(0, 1, 8).reshape(2, 4)), rtol=1e-6)


def test_it_needs_no_library_of_ours():
    text = "import tensorflow, tfdbg_ascend.library as l, sys; print(l.path()); assert 'npu_device' not in sys.modules"
    library = run(text, folder=HERE).stdout.split()[-1]
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    assert "libtensorflow_cc" in needed and "libanynpu" not in needed
