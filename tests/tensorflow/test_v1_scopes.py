# SPDX-License-Identifier: Apache-2.0
"""What is told of nodes and runs of TensorFlow 1 before they run: scopes, loops, compilation."""

import enum
import importlib
import types
import warnings

import npu_device.session
import pytest
import tensorflow as tf
from npu_bridge.estimator.npu import keep_dtype_scope, npu_scope, util
from npu_device.session import iterations

v1 = tf.compat.v1


class Placement(enum.Enum):
    HOST = "host"


MARKS = {
    "npu_variable_scope": ((Placement.HOST,), {"_variable_placement": b"host"}),
    "npu_stage_scope": ((2,), {"_stage_level": 2}),
    "npu_mem_type_scope": ((), {"_output_memory_type": 1}),
    "npu_weight_prefetch_scope": ((), {"_buffer_pool_id": 0, "_buffer_pool_size": 536870912}),
    "op_specified_engine_scope": (("e", "k"), {"_specified_engine_name": b"e", "_specified_kernel_lib_name": b"k"}),
    "subgraph_multi_dims_scope": ((1,), {"_subgraph_multi_dims_index": 1}),
    "npu_graph_slice_scope": ((4,), {"_graph_slice": True, "_graph_slice_num": 4}),
    "npu_qos_label_scope": ((3,), {"_qos_service_label": 3}),
}
WRONG = [("npu_variable_scope", 4), ("npu_stage_scope", -1), ("npu_qos_label_scope", True),
         ("npu_weight_prefetch_scope", "0"), ("npu_graph_slice_scope", 1.5)]  # fmt: skip


@pytest.fixture
def graph(nothing_said):
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("name", MARKS)
def test_scopes_that_ask_for_what_software_has_not_say_so_once(graph, name):
    arguments, marks = MARKS[name]
    scope = getattr(npu_scope, name)
    with pytest.warns(UserWarning, match=f"{name} has no effect on results or speed here"), scope(*arguments):
        inside = tf.constant(1.0).op
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with scope(*arguments):
            pass
    assert {mark: inside.get_attr(mark) for mark in marks} == marks
    assert not set(marks) & set(tf.constant(1.0).op.node_def.attr)


@pytest.mark.parametrize("name, value", WRONG)
def test_scopes_refuse_what_makes_no_sense(graph, name, value):
    with pytest.raises(ValueError, match=repr(value)):
        getattr(npu_scope, name)(value)


def test_scopes_that_act_mark_what_is_built_in_them(graph):
    with npu_scope.without_npu_compile_scope(), keep_dtype_scope.keep_dtype_scope():
        inside = tf.constant(1.0).op
    assert inside.get_attr("_without_npu_compile") is True and inside.get_attr("_keep_dtype") is True
    assert "_keep_dtype" not in tf.constant(1.0).op.node_def.attr


def test_tensors_keep_their_types(graph):
    a, b, c = tf.constant(1.0, name="a"), tf.constant(1.0, name="b"), tf.constant(1.0)
    util.keep_tensors_dtypes(graph, (a, "b:0"))
    assert a.op.get_attr("_keep_dtype") is True and b.op.get_attr("_keep_dtype") is True
    assert "_keep_dtype" not in c.op.node_def.attr
    with pytest.raises(KeyError, match="nowhere"):
        util.keep_tensors_dtypes(graph, ["nowhere:0"])
    with pytest.raises(ValueError, match="3 is no operation, tensor"):
        util.keep_tensors_dtypes(graph, [3])


def test_graphs_for_shapes_that_change(graph):
    a, b = tf.constant(1.0, name="a"), tf.constant(1.0)
    with pytest.warns(UserWarning, match="shapes of inputs may change from run to run without it"):
        assert util.set_graph_exec_config([a, b.op], True, "lazy_recompile", "getnext:[1~8]")[0] is a
    for op in (a.op, b.op):
        assert (
            op.get_attr("_graph_dynamic_input")
            and op.get_attr("_graph_dynamic_graph_execute_mode") == b"lazy_recompile"
        )
        assert op.get_attr("_graph_dynamic_inputs_shape_range") == b"getnext:[1~8]"
    with pytest.warns(UserWarning, match="experimental_config of set_graph_exec_config has no effect"):
        assert util.set_graph_exec_config("a:0", experimental_config=object()) is a
    with pytest.raises(ValueError, match="'eager'; it is one of dynamic_execute, lazy_recompile"):
        util.set_graph_exec_config(a, True, "eager")


def test_loops_are_marked_on_the_operation(graph):
    train, other = tf.no_op("train"), tf.no_op("other")
    session = v1.Session()
    assert util.set_iteration_per_loop(session, train, 1) is train
    looped = util.set_iteration_per_loop(session, train, 100)
    assert looped.name == "IterationOp" and looped.control_inputs == [train]
    assert iterations.count_of(graph, ["train", "IterationOp"]) == 100
    assert iterations.count_of(graph, ["train"]) == 1 and iterations.count_of(tf.Graph(), ["IterationOp"]) == 1

    loop = util.IterationPerLoop()
    with pytest.raises(ValueError, match="call create_iteration_per_loop_var first"):
        loop.load_iteration_per_loop_var(session, 2)
    second = loop.create_iteration_per_loop_var(other)
    graph.finalize()
    assert iterations.count_of(graph, [second.name]) == 1
    for count in (10, 20):
        loop.load_iteration_per_loop_var(session, count)
        assert iterations.count_of(graph, [second.name]) == count
    with pytest.raises(ValueError, match=f"IterationOp 100, {second.name} 20.*run them one by one"):
        iterations.count_of(graph, ["IterationOp", second.name])


@pytest.mark.parametrize(
    "count, kind", [(0, ValueError), (-3, ValueError), (2.0, TypeError), (True, TypeError), ("2", TypeError)]
)
def test_loops_have_whole_counts(graph, count, kind):
    with pytest.raises(kind, match="the iterations per loop of train are .*1 or more"):
        iterations.mark(tf.no_op("train"), count)


def test_loops_are_of_operations_of_the_session(graph):
    with pytest.raises(ValueError, match="it must be an operation"):
        util.set_iteration_per_loop(v1.Session(), tf.constant(1.0), 2)
    with pytest.raises(ValueError, match="of another graph than the session"):
        util.set_iteration_per_loop(v1.Session(graph=tf.Graph()), tf.no_op(), 2)


def test_variables_are_initialized(graph):
    w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
    with pytest.warns(UserWarning, match="variable_initializer_in_host initializes variables as"):
        init = util.variable_initializer_in_host([w])
    session = v1.Session()
    session.run(init)
    assert init.name == "var_in_host" and session.run(w).tolist() == [1, 1]


def test_compilation_is_the_sessions(graph, monkeypatch):
    asked = []
    monkeypatch.setattr(npu_device.session, "compile", lambda *told: asked.append(told), raising=False)
    session, a, b = v1.Session(), tf.constant(1.0), tf.no_op()
    util.npu_compile(session, a, b)
    assert asked == [(session, (a, b))]


STARS = ["npu_ops", "npu_unary_ops", "npu.keep_dtype_scope", "npu.npu_dynamic_rnn", "npu.npu_loss_scale_manager",
         "npu.npu_loss_scale_optimizer", "npu.npu_optimizer", "npu.npu_rnn", "npu.npu_scope", "npu.util"]  # fmt: skip


@pytest.mark.parametrize("name", STARS)
def test_a_star_brings_the_names_and_leaves_tf_alone(name):
    """Scripts have a tf of their own, which may be another one than the modules'."""
    found = {}
    exec(f"from npu_bridge.estimator.{name} import *", found)  # noqa: S102 - what scripts write
    del found["__builtins__"]
    assert sorted(found) == sorted(importlib.import_module(f"npu_bridge.estimator.{name}").__all__)
    assert not [key for key, value in found.items() if isinstance(value, types.ModuleType)]
