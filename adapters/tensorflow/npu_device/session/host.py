# SPDX-License-Identifier: Apache-2.0
"""Runs that the NPU cannot take, in TensorFlow's own session on the CPU: with ENABLE_NETWORK_ANALYSIS_DEBUG only. Their
variables are brought there before and back afterwards."""

import os

import tensorflow as tf

from npu_device.adapter import library

CANNOT = (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError, tf.errors.NotFoundError)
_runs = {}  # by the reason for which it ran there: how often


def asked():
    """Whether what cannot be compiled runs on the host instead of ending the step."""
    return bool(os.environ.get("ENABLE_NETWORK_ANALYSIS_DEBUG"))


def report():
    """The runs on the host in the form of NpuDeviceHandle.report()."""
    return [
        {
            "name": "a run of a session",
            "host": [{"op": "all", "reason": reason, "runs": runs}],
            "nodes": 0,
            "host_nodes": 0,
        }
        for reason, runs in _runs.items()
    ]


def run(session, stock, error, arguments):
    """Runs in the session of the CPU what raised `error`; `stock` are the methods of TensorFlow's own."""
    told = error.__context__ or error  # as it was before TensorFlow put the user's lines around it
    reason = told.message.splitlines()[0]
    if reason not in _runs:
        library.log(f"Failed to compile a run of a session, it runs on the host: {reason}", library.ERROR)
    _runs[reason] = _runs.get(reason, 0) + 1
    variables = _variables(session.graph)
    _move(variables, lambda one: _on_npu(session, one), lambda feeds: _load(session, stock, feeds))
    results = stock["_do_run"](session, None, *arguments, None, None)
    _move(variables, lambda one: _on_cpu(session, stock, one), lambda feeds: _give_back(session, feeds))
    return results


def _variables(graph):
    found = {}
    for key in graph.get_all_collection_keys():
        for one in graph.get_collection_ref(key):
            if isinstance(one, tf.Variable):
                found[one.name] = one
    return list(found.values())


def _move(variables, read, write):
    for one in variables:
        try:
            value = read(one)
        except tf.errors.FailedPreconditionError:
            continue  # nothing assigned yet
        write((one, value))


def _on_npu(session, variable):
    return session._npu.slice([], [_value(variable)], []).run([])[0]


def _on_cpu(session, stock, variable):
    return stock["_do_run"](session, None, [], [_value(variable)], {}, None, None)[0]


def _value(variable):
    return variable._graph_element if hasattr(variable, "_graph_element") else variable.value()


def _initial(variable):
    return variable.initializer, variable.initializer.inputs[1]


def _load(session, stock, pair):
    initializer, initial = _initial(pair[0])
    stock["_do_run"](session, None, [initializer], [], {initial.ref(): pair[1]}, None, None)


def _give_back(session, pair):
    initializer, initial = _initial(pair[0])
    session._npu.slice([initial], [], [initializer]).run([pair[1]])
