# SPDX-License-Identifier: Apache-2.0
"""What a session saves is the same wherever it ran, and goes on on either side."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from anynpu.infer import InferSession
from both import session, tf1

ATC = Path(sys.executable).with_name("atc")
SIDES = pytest.mark.parametrize(("here", "there"), [(True, False), (False, True), (True, True)],
                                ids=["NPU to CPU", "CPU to NPU", "NPU to NPU"])  # fmt: skip
X = np.random.default_rng(0).normal(size=(8, 6)).astype("float32")
Y = np.arange(8) % 3


class Net:
    """A network with variables of every kind, in the default graph."""

    def __init__(self, use_resource=None):
        tf1.set_random_seed(3)
        self.x, self.y = tf1.placeholder(tf.float32, [None, 6], "x"), tf1.placeholder(tf.int32, [None], "y")
        with tf1.variable_scope("net", use_resource=use_resource):
            x = tf1.layers.dense(self.x, 5, tf.nn.tanh, name="hidden")
            parts = tf1.fixed_size_partitioner(2)
            table = tf1.get_variable("parts", [5, 3], partitioner=parts, initializer=tf1.glorot_uniform_initializer())
            self.logits = tf.matmul(x, tf.convert_to_tensor(table), name="logits")
            self.flags = tf1.get_variable("flags", initializer=tf.constant([True, False]), trainable=False)
            self.big = tf1.get_variable("big", initializer=tf.constant(1 << 40, tf.int64), trainable=False)
        self.loss = tf1.losses.sparse_softmax_cross_entropy(self.y, self.logits)
        step = tf1.train.get_or_create_global_step()
        self.train = tf1.train.AdamOptimizer(0.01).minimize(self.loss, step)
        self.change = tf.group(tf1.assign(self.flags, [False, True]), tf1.assign_add(self.big, 5))

    def feeds(self):
        return {self.x: X, self.y: Y}

    def trained(self, run, steps):
        return [run.run([self.loss, self.train], self.feeds())[0] for _ in range(steps)]


def values(run):
    """Of all variables, by name."""
    return run.run({one.op.name: one.value() for one in tf1.global_variables()})


def assert_same_bits(a, b):
    assert a.keys() == b.keys()
    for name, value in a.items():
        assert value.dtype == b[name].dtype, name
        np.testing.assert_array_equal(value, b[name], err_msg=name)


@pytest.mark.promise("Sessions of TensorFlow 1 save on the NPU and load on the CPU, and the other way")
@pytest.mark.parametrize("use_resource", [False, True])
@SIDES
def test_a_saver(here, there, use_resource, tmp_path):
    prefix = str(tmp_path / "model")
    with tf.Graph().as_default():
        net, saver = Net(use_resource), tf1.train.Saver(sharded=use_resource)
        with session(here) as run:
            run.run(tf1.global_variables_initializer())
            net.trained(run, 3)
            run.run(net.change)
            path = saver.save(run, prefix, tf1.train.get_global_step())
            wanted = values(run)
            losses = net.trained(run, 3)
        with session(there) as run:
            saver.restore(run, path)
            assert_same_bits(values(run), wanted)
            np.testing.assert_allclose(net.trained(run, 3), losses, rtol=1e-5)
    assert path == tf1.train.latest_checkpoint(str(tmp_path)) == prefix + "-3"
    assert_same_bits(read(path, wanted), wanted)


def read(path, wanted):
    """What TensorFlow's readers find in a checkpoint: whole variables, of which some were saved in parts."""
    reader, found = tf1.train.NewCheckpointReader(path), dict(tf1.train.list_variables(path))
    assert found["net/parts"] == [5, 3]
    whole = {name: reader.get_tensor(name) for name in found}
    assert (tf.train.load_checkpoint(path).get_tensor("net/parts") == whole["net/parts"]).all()
    for name in [name for name in wanted if "parts/part_" in name]:
        base, _, rest = name.partition("/part_")
        begin = 3 * int(rest[0])
        whole[name] = whole[base + rest[1:]][begin : begin + 3]
    return {name: np.asarray(whole[name]) for name in wanted}


def test_savers_keep_what_they_are_to_keep(tmp_path):
    with tf.Graph().as_default(), session() as run:
        v = tf1.get_variable("v", initializer=0.0)
        more, saver = tf1.assign_add(v, 1.0), tf1.train.Saver(max_to_keep=2)
        run.run(v.initializer)
        for step in range(4):
            run.run(more)
            saver.save(run, str(tmp_path / "m"), step)
        assert [Path(one).name for one in saver.last_checkpoints] == ["m-2", "m-3"]
        assert sorted(one.name for one in tmp_path.glob("*.index")) == ["m-2.index", "m-3.index"]
        saver.restore(run, str(tmp_path / "m-2"))
        assert run.run(v) == 3
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            saver.restore(run, str(tmp_path / "m-0"))
        assert run.run(v) == 3


def test_a_saver_of_some_variables_under_other_names(tmp_path):
    path = str(tmp_path / "some")
    with tf.Graph().as_default(), session() as run:
        a, b = tf1.get_variable("a", initializer=[1.0, 2.0]), tf1.get_variable("b", initializer=[3.0])
        run.run(tf1.global_variables_initializer())
        tf1.train.Saver({"other": a}).save(run, path)
    with tf.Graph().as_default(), session() as run:
        c, b = tf1.get_variable("c", [2]), tf1.get_variable("b", [1])
        tf1.train.Saver({"other": c}).restore(run, path)
        assert list(run.run(c)) == [1, 2]
        assert list(run.run(tf1.report_uninitialized_variables())) == [b"b"]
        with pytest.raises(tf.errors.NotFoundError, match="Key b not found in checkpoint"):
            tf1.train.Saver([b]).restore(run, path)
    with tf.Graph().as_default(), session() as run:
        wrong = tf1.get_variable("other", [3])
        saver = tf1.train.Saver([wrong])
        for declared in ("declared with", "of"):
            with pytest.raises(tf.errors.InvalidArgumentError, match=rf"variable {declared} shape \[3\].*shape \[2\]"):
                saver.restore(run, path)
            run.run(wrong.initializer)
        assert run.run(wrong).shape == (3,)


def test_variables_that_begin_with_those_of_a_checkpoint(tmp_path):
    path = str(tmp_path / "start")
    with tf.Graph().as_default(), session(False) as run:
        net = Net()
        run.run(tf1.global_variables_initializer())
        net.trained(run, 1)
        tf1.train.Saver().save(run, path)
        wanted = values(run)
    with tf.Graph().as_default(), session() as run:
        Net()
        tf1.train.init_from_checkpoint(path, {"net/": "net/"})
        run.run(tf1.global_variables_initializer())
        got = values(run)
    for name in ("net/hidden/kernel", "net/parts/part_1"):
        np.testing.assert_array_equal(got[name], wanted[name])


@SIDES
def test_checkpoints_of_objects(here, there, tmp_path):
    def made():
        w, optimizer = tf1.get_variable("w", initializer=[1.0, -2.0]), tf1.train.AdamOptimizer(0.1)
        step = tf1.train.get_or_create_global_step()
        train = optimizer.minimize(tf.reduce_sum(tf.square(w)), step)
        return train, tf1.train.Checkpoint(w=w, optimizer=optimizer, step=step)

    with tf.Graph().as_default(), session(here) as run:
        train, saved = made()
        run.run(tf1.global_variables_initializer())
        run.run(train), run.run(train)
        path = saved.save(str(tmp_path / "objects"), session=run)
        wanted = values(run)
    with tf.Graph().as_default(), session(there) as run:
        train, saved = made()
        status = saved.restore(path)
        status.assert_consumed().run_restore_ops(run)
        wanted.pop("save_counter", None)
        got = values(run)
        assert_same_bits({name: got[name] for name in wanted}, wanted)
        run.run(train)


@SIDES
def test_a_graph_read_back(here, there, tmp_path):
    """import_meta_graph: the script that builds the network is not there any more."""
    with tf.Graph().as_default(), session(here) as run:
        net = Net()
        tf1.add_to_collection("train", net.train)
        run.run(tf1.global_variables_initializer())
        net.trained(run, 2)
        path = tf1.train.Saver().save(run, str(tmp_path / "whole"))
        wanted, losses = values(run), net.trained(run, 2)
        name = net.loss.name
    with tf.Graph().as_default() as graph, session(there) as run:
        tf1.train.import_meta_graph(path + ".meta", clear_devices=True).restore(run, path)
        assert_same_bits(values(run), wanted)
        (train,) = tf1.get_collection("train")
        got = [run.run([name, train], {"x:0": X, "y:0": Y})[0] for _ in range(2)]
        np.testing.assert_allclose(got, losses, rtol=1e-5)
        assert graph.get_operation_by_name("net/logits") is not None


def frozen_network():
    """With a branch that freezing must cut off, a convolution and normalisation that has seen data."""
    x, training = tf1.placeholder(tf.float32, [2, 8, 8, 3], "x"), tf1.placeholder_with_default(False, [])
    y = tf1.layers.conv2d(x, 4, 3, padding="same", use_bias=False)
    y = tf.nn.relu(tf1.layers.batch_normalization(y, training=False))
    y = tf1.layers.dense(tf1.layers.flatten(tf1.layers.max_pooling2d(y, 2, 2)), 5)
    return x, tf.nn.softmax(y, name="out"), training


@pytest.mark.promise(
    "Graphs of sessions, frozen by convert_variables_to_constants, give the same on CPU, NPU and as .om"
)
@pytest.mark.parametrize("use_resource", [False, True])
def test_a_frozen_graph(use_resource, tmp_path):
    picture = np.random.default_rng(1).normal(size=(2, 8, 8, 3)).astype("float32")
    with tf.Graph().as_default() as graph, session() as run:
        tf1.set_random_seed(5)
        with tf1.variable_scope("", use_resource=use_resource):
            x, y, _ = frozen_network()
        run.run(tf1.global_variables_initializer())
        wanted = run.run(y, {x: picture})
        constant = tf1.graph_util.convert_variables_to_constants(run, graph.as_graph_def(), ["out"])
    tf1.train.write_graph(constant, str(tmp_path), "frozen.pb", as_text=False)
    kinds = {node.op for node in constant.node}
    assert not kinds & {"VariableV2", "VarHandleOp", "ReadVariableOp", "Assign"}
    with tf.Graph().as_default():
        read_back = tf1.GraphDef.FromString((tmp_path / "frozen.pb").read_bytes())
        tf.import_graph_def(read_back, name="")
        for on_npu in (True, False):
            with session(on_npu) as run:
                np.testing.assert_allclose(run.run("out:0", {"x:0": picture}), wanted, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(offline(tmp_path, picture), wanted, rtol=1e-4, atol=1e-6)


def offline(folder, picture):
    command = [ATC, "--framework=3", f"--model={folder}/frozen.pb", f"--output={folder}/model"]
    command += ["--soc_version=Ascend910B1", "--input_shape=x:2,8,8,3", "--precision_mode=must_keep_origin_dtype"]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout + said.stderr
    with InferSession(0, f"{folder}/model.om") as model:
        return model.infer([picture])[0]


@pytest.mark.parametrize("form", ["simple", "builder"])
@SIDES
def test_a_saved_model(here, there, form, tmp_path):
    folder = str(tmp_path / "saved")
    with tf.Graph().as_default(), session(here) as run:
        net = Net()
        words = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [0, 1]), -1)
        word = tf1.placeholder(tf.string, [None], "word")
        found = words.lookup(word, "found")
        run.run([tf1.global_variables_initializer(), tf1.tables_initializer()])
        net.trained(run, 2)
        wanted = run.run([net.logits, found], {net.x: X, word: [b"b", b"c"]})
        inputs, outputs = {"x": net.x, "word": word}, {"logits": net.logits, "found": found}
        if form == "simple":
            tf1.saved_model.simple_save(run, folder, inputs, outputs, tf1.tables_initializer())
        else:
            built(run, folder, inputs, outputs)
    with tf.Graph().as_default(), session(there) as run:
        signatures = tf1.saved_model.load(run, ["serve"], folder).signature_def
        names = signatures["serving_default"]
        feeds = {names.inputs["x"].name: X, names.inputs["word"].name: [b"b", b"c"]}
        got = run.run([names.outputs["logits"].name, names.outputs["found"].name], feeds)
    np.testing.assert_allclose(got[0], wanted[0], rtol=1e-5, atol=1e-7)
    assert list(got[1]) == list(wanted[1]) == [1, -1]


def built(run, folder, inputs, outputs):
    builder = tf1.saved_model.builder.SavedModelBuilder(folder)
    signature = tf1.saved_model.predict_signature_def(inputs, outputs)
    builder.add_meta_graph_and_variables(run, ["serve"], {"serving_default": signature},
                                         main_op=tf1.tables_initializer(), strip_default_attrs=True)  # fmt: skip
    builder.save()
