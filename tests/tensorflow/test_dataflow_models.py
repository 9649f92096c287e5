# SPDX-License-Identifier: Apache-2.0
"""Graphs whose loops and branches are Switch, Merge and frames, frozen or saved, -> atc -> .om -> AscendCL."""

import subprocess

import numpy as np
import pytest
import tensorflow as tf
from anynpu.infer import InferSession
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
from test_models import example, lstm
from test_saved_models import ATC, CLOSE, check, made

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def dataflow_control():
    v1.disable_control_flow_v2()
    yield
    v1.enable_control_flow_v2()


def variable(name, shape, resource=False):
    return v1.get_variable(name, shape, initializer=v1.random_normal_initializer(seed=3), use_resource=resource)


def doubled_until(x, n):
    w = variable("w", [4, 4])
    _, y = v1.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.tanh(tf.matmul(a, w)) + x), [0, x])
    return y


def loop_in_loop(x, n):
    w = variable("w", [4, 4], resource=True)

    def inner(i, a):
        return i + 1, v1.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, tf.tanh(tf.matmul(b, w))), [0, a])[1]

    return v1.while_loop(lambda i, a: i < n, inner, [0, x])[1]


def branches(x, n):
    w = variable("w", [4, 4])
    inner = lambda: tf.cond(tf.equal(n, 3), lambda: x + w[0], lambda: tf.matmul(x, w))  # noqa: E731
    return tf.cond(n < 2, lambda: x * 3.0, inner) + 1.0


def branch_in_loop(x, n):
    def body(i, a):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a + x, lambda: a * 0.5)

    return v1.while_loop(lambda i, a: i < n, body, [0, x], shape_invariants=[tf.TensorShape([]), x.shape])[1]


def loop_in_branch(x, n):
    turn = lambda: v1.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 1.5), [0, x])[1]  # noqa: E731
    return tf.cond(tf.reduce_sum(x) > 0, turn, lambda: -x)


def frozen(session, output, path):
    names = [output.op.name]
    graph = v1.graph_util.convert_variables_to_constants(session, session.graph_def, names)
    assert {"Switch", "Merge"} <= {node.op for node in graph.node}
    path.write_bytes(graph.SerializeToString())


def atc(folder, *flags):
    command = [ATC, "--framework=3", f"--model={folder}/model.pb", f"--output={folder}/converted", *flags]
    return subprocess.run([*command, "--soc_version=Ascend910B1"], capture_output=True, text=True)


def infer(folder, inputs, *flags):
    shapes = ";".join(f"{name}:{','.join(map(str, np.shape(x)))}" for name, x in inputs.items())
    said = atc(folder, f"--input_shape={shapes}", "--precision_mode=must_keep_origin_dtype", *flags)
    assert said.returncode == 0, said.stdout + said.stderr
    with InferSession(0, f"{folder}/converted.om") as session:
        assert [port.name for port in session.get_inputs()] == list(inputs)
        return session.infer(list(inputs.values()))


@pytest.mark.parametrize("build", [doubled_until, loop_in_loop, branches, branch_in_loop, loop_in_branch])
def test_a_frozen_graph_gives_what_its_session_gives(build, tmp_path):
    rows = np.random.default_rng(2).standard_normal((3, 4), np.float32)
    with tf.Graph().as_default(), tf.device("/device:CPU:0"), v1.Session() as session:
        x, n = v1.placeholder(tf.float32, [None, 4], name="x"), v1.placeholder(tf.int32, [], name="n")
        y = tf.identity(build(x, n), name="y")
        session.run(v1.global_variables_initializer())
        frozen(session, y, tmp_path / "model.pb")
        v1.saved_model.simple_save(session, str(tmp_path / "saved"), {"x": x, "n": n}, {"y": y})
        for steps in (0, 1, 3, 4):
            for sign in (1, -1):
                inputs = {"x": sign * np.abs(rows), "n": np.int32(steps)}
                wanted = session.run(y, {x: inputs["x"], n: steps})
                for flags in ((), ("--out_nodes=y",)) if steps == 3 else ((),):
                    (got,) = infer(tmp_path, inputs, *flags)
                    assert np.abs(got - wanted).max() <= CLOSE * np.abs(wanted).max()
        check(tmp_path / "saved", inputs, {"y": wanted})


def test_a_lowered_keras_model_gives_what_keras_gives(tmp_path):
    """As convert_variables_to_constants_v2 leaves it when it is not told lower_control_flow=False."""
    with tf.device("/device:CPU:0"):
        model = made(lstm)
        x = example(model)
        wanted = model(x, training=False).numpy()
        function = tf.function(model).get_concrete_function(tf.TensorSpec(x.shape, x.dtype, name="x"))
        graph = convert_variables_to_constants_v2(function).graph.as_graph_def()
    assert "Enter" in {node.op for node in graph.node}
    (tmp_path / "model.pb").write_bytes(graph.SerializeToString())
    (got,) = infer(tmp_path, {"x": x})
    assert np.abs(got - wanted).max() <= CLOSE * np.abs(wanted).max()


def test_what_is_inside_a_loop_is_no_output(tmp_path):
    with tf.Graph().as_default(), tf.device("/device:CPU:0"), v1.Session() as session:
        x, n = v1.placeholder(tf.float32, [2, 4], name="x"), v1.placeholder(tf.int32, [], name="n")
        y = doubled_until(x, n)
        session.run(v1.global_variables_initializer())
        frozen(session, y, tmp_path / "model.pb")
    said = atc(tmp_path, "--out_nodes=while/add:0")
    assert said.returncode != 0
    assert "while/add:0 may not come: it is inside of a loop" in said.stderr + said.stdout
