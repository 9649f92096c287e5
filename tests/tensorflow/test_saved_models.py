# SPDX-License-Identifier: Apache-2.0
"""SavedModel -> atc -> .om -> AscendCL, without TensorFlow from the folder on: models of Keras, a module with
signatures, graphs of TensorFlow 1."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from anynpu.infer import InferSession
from test_models import encoder, example, lstm, resnet

ATC = Path(sys.executable).with_name("atc")
CLOSE = 1e-4  # of the largest number of an output
v1 = tf.compat.v1


def atc(folder, *flags):
    command = [ATC, "--framework=3", f"--model={folder}", f"--output={folder}/converted", "--soc_version=Ascend910B1"]
    return subprocess.run([*command, *flags], capture_output=True, text=True)


def check(folder, inputs, wanted, *flags):
    """The outputs are those that are wanted, both by name; gives the largest distance."""
    shapes = ";".join(f"{name}:{','.join(map(str, x.shape))}" for name, x in inputs.items())
    said = atc(folder, f"--input_shape={shapes}", "--precision_mode=must_keep_origin_dtype", *flags)
    assert said.returncode == 0, said.stdout + said.stderr
    with InferSession(0, f"{folder}/converted.om") as session:
        names = [port.name for port in session.get_inputs()]
        assert names == sorted(inputs)
        assert [port.name for port in session.get_outputs()] == sorted(wanted)
        got = dict(zip(sorted(wanted), session.infer([inputs[name] for name in names]), strict=True))
    apart = max(np.abs(got[name] - wanted[name]).max() / np.abs(wanted[name]).max() for name in wanted)
    print(f"{Path(folder).name} {' '.join(flags)}: {apart:.1e} of the largest")
    assert apart <= CLOSE
    return apart


def made(make):
    tf.keras.utils.set_random_seed(1)
    model = make()
    for variable in model.variables:
        if "moving_variance" in variable.name:
            variable.assign(tf.random.uniform(variable.shape, 0.5, 1.5))
        elif "moving_mean" in variable.name:
            variable.assign(tf.random.normal(variable.shape))
    return model


@pytest.mark.promise("SavedModels of Keras models (ResNet, BERT, LSTM) become .om files whose results are Keras'")
@pytest.mark.parametrize("export", ["save", "export"])
@pytest.mark.parametrize("make", [resnet, encoder, lstm])
def test_a_model_of_keras_gives_what_keras_gives(make, export, tmp_path):
    folder = str(tmp_path / make.__name__)
    with tf.device("/device:CPU:0"):
        model = made(make)
        x = example(model)
        wanted = model(x, training=False).numpy()
        if export == "save":
            model.compile("adam", "mse")  # with the optimizer and its variables, as training leaves it
            model.save(folder)
        else:
            model.export(folder)
        signature = tf.saved_model.load(folder).signatures["serving_default"]
    (name,), (output,) = signature.structured_input_signature[1], signature.structured_outputs
    check(folder, {name: x}, {output: wanted})


class Module(tf.Module):
    """Two variables of one name, one of them read in a loop and a branch; two signatures."""

    def __init__(self):
        self.first = tf.Variable(np.arange(12, dtype=np.float32).reshape(3, 4) / 7)
        self.second = tf.Variable(np.float32([1, -2, 3, -4]))
        self.step = tf.Variable(3)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x"), tf.TensorSpec([], tf.int32, "n")])
    def scores(self, x, n):
        y = tf.matmul(x, self.first)
        for _ in tf.range(n):
            y = y * 0.5 + self.second
        if tf.reduce_sum(y) > 0:
            y = y + self.second
        return {"y": y, "mean": tf.reduce_mean(y, 1), "rows": tf.gather(self.first, n + tf.zeros([2], tf.int32))}

    @tf.function(input_signature=[tf.TensorSpec([4], tf.float32, "v")])
    def shifted(self, v):
        return {"out": v + self.second * tf.cast(self.step, tf.float32)}

    @tf.function(input_signature=[tf.TensorSpec([4], tf.float32, "v")])
    def trained(self, v):
        self.second.assign_add(v)
        return {"out": self.second.read_value()}


@pytest.fixture
def module(tmp_path):
    with tf.device("/device:CPU:0"):
        one = Module()
        signatures = {"serving_default": one.scores, "shifted": one.shifted, "trained": one.trained}
        tf.saved_model.save(one, str(tmp_path / "module"), signatures)
    return one, tmp_path / "module"


def test_a_module_gives_what_its_signatures_give(module):
    one, folder = module
    x = np.random.default_rng(2).standard_normal((5, 3), np.float32)
    for n in (0, 2):
        inputs = {"x": x, "n": np.int32(n)}
        with tf.device("/device:CPU:0"):
            wanted = {name: value.numpy() for name, value in one.scores(**inputs).items()}
        check(folder, inputs, wanted)
    v = np.float32([1, 2, 3, 4])
    with tf.device("/device:CPU:0"):
        wanted = {name: value.numpy() for name, value in one.shifted(v).items()}
    check(folder, {"v": v}, wanted, "--signature_def=shifted")


@pytest.mark.parametrize("resource", [True, False])
def test_a_graph_of_tensorflow_1_gives_what_its_session_gives(resource, tmp_path):
    folder, random = str(tmp_path / "simple"), np.random.default_rng(3)
    with tf.Graph().as_default(), tf.device("/device:CPU:0"), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 8, 8, 3], name="pictures")
        kernel = v1.get_variable("conv/kernel", [3, 3, 3, 4], use_resource=resource)
        w = v1.get_variable("dense/w", [4, 5], use_resource=resource)
        b = v1.get_variable("dense/b", initializer=tf.ones([5]), use_resource=resource)
        features = tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME"))
        y = tf.nn.softmax(tf.matmul(tf.reduce_mean(features, [1, 2]), w) + b)
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, folder, {"x": x}, {"y": y})
        pictures = random.standard_normal((2, 8, 8, 3), np.float32)
        wanted, inner = session.run([y, features], {x: pictures})
    check(folder, {"x": pictures}, {"y": wanted})
    check(folder, {"x": pictures}, {"Relu:0": inner}, "--out_nodes=Relu:0")


def refused(folder, word, *flags):
    said = atc(folder, *flags)
    assert said.returncode != 0 and "ATC run failed" in said.stdout
    print(said.stderr)
    assert re.search(word, said.stderr), said.stderr


def test_what_is_not_read_is_named(module, tmp_path):
    _, folder = module
    refused(folder, "AssignAddVariableOp is given the variable Variable_?1?", "--signature_def=trained")
    refused(folder, "no signature 'none'; it has .*shifted", "--signature_def=none")
    refused(folder, "no input z; its inputs are n, x", "--input_shape=z:1")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "E10410.*holds no saved_model.pb")
    data = folder / "variables" / "variables.data-00000-of-00001"
    whole = data.read_bytes()
    data.write_bytes(whole[:4] + bytes([whole[4] ^ 1]) + whole[5:])
    refused(folder, "bytes of variable .* are damaged", "--input_shape=x:1,3;n:")
    data.unlink()
    refused(folder, "00000-of-00001: No such file", "--input_shape=x:1,3;n:")
    (folder / "variables" / "variables.index").write_bytes(whole)
    refused(folder, "variables.index is cut off or damaged", "--input_shape=x:1,3;n:")


def test_tables_are_refused_with_the_way_to_leave_them_out(tmp_path):
    class Words(tf.Module):
        def __init__(self):
            pairs = tf.lookup.KeyValueTensorInitializer([10, 20], [1, 2])
            self.table = tf.lookup.StaticHashTable(pairs, -1)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, "ids")])
        def look(self, ids):
            return {"out": self.table.lookup(ids)}

    with tf.device("/device:CPU:0"):
        words = Words()
        tf.saved_model.save(words, str(tmp_path / "words"), {"serving_default": words.look})
    refused(
        tmp_path / "words", r"HashTableV2 \(node .*\).*tables, assets.*signature_def.*out_nodes", "--input_shape=ids:3"
    )
