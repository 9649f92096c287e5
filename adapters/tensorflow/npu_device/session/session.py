# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's session classes, whose runs go to the NPU once enable() was called."""

import functools
import time

import numpy as np
import tensorflow as tf
from tensorflow.python.client import session as sessions

from npu_device import device
from npu_device.patch import session as told
from npu_device.session import config as settings
from npu_device.session import host, iterations, prepared
from npu_device.session.engine import Engine
from npu_device.setting import telling

_stock = {}  # what was there before


def enable():
    """From now on the sessions that are made compute on the NPU, unless their configuration says otherwise."""
    if _stock:
        return
    told.on_the_npu = True
    device.reports.append(host.report)
    for name, replacement in {
        "__init__": _init,
        "close": _close,
        "run": _run_whole,
        "_do_run": _do_run,
        "make_callable": _make_callable,
        "_make_callable_from_options": _make_callable_from_options,
        "partial_run_setup": _partial_run_setup,
    }.items():
        _stock[name] = getattr(sessions.BaseSession, name)
        setattr(sessions.BaseSession, name, functools.wraps(_stock[name])(replacement))


def compile(session, fetches):
    """Takes the part of the graph on which `fetches` stand before it is run. TensorFlow's error for what the NPU cannot
    take; shapes are looked at in the first run."""
    handler = sessions._FetchHandler(session.graph, fetches, {})
    session._do_call(_engine(session).slice([], handler.fetches(), handler.targets()).compile)


def _init(self, target="", graph=None, config=None):
    _stock["__init__"](self, target, graph, config)
    self._npu = None
    if target:
        telling.once("target", f"a session of the server {target} computes there; one without a target is on the NPU")
        return
    options = settings.apply(config)
    if options.use_off_line:
        self._npu = Engine(device.open(options.device_id)._info, self.graph)
        self._npu_loop = options.iterations_per_loop


def _engine(session):
    engine = getattr(session, "_npu", None)
    if engine is None:
        raise ValueError("this session is not on the NPU; make it after npu_device.compat.enable_v1()")
    return engine


def _close(self):
    if getattr(self, "_npu", None) is not None and not self._closed:
        _tell_of_no_loop(self)
        self._npu.close()
    _stock["close"](self)


def _tell_of_no_loop(session):
    if session._npu_loop > 1 and not hasattr(session.graph, iterations.TABLE):
        text = f"NpuOptimizer's key iterations_per_loop={session._npu_loop} had no effect: each run was one step. "
        telling.once(
            "loop", text + "Run the operation that util.set_iteration_per_loop(session, train_op, count) gives"
        )


def _do_run(self, handle, target_list, fetch_list, feed_dict, options, run_metadata):
    if getattr(self, "_npu", None) is None:
        return _stock["_do_run"](self, handle, target_list, fetch_list, feed_dict, options, run_metadata)
    if handle is not None:
        raise _no_parts()
    feeds, arrays = [ref.deref() for ref in feed_dict], list(feed_dict.values())
    try:
        return self._do_call(_run, self, feeds, arrays, fetch_list, target_list)
    except host.CANNOT as error:
        if not host.asked():
            raise
        return host.run(self, _stock, error, (target_list, fetch_list, feed_dict))


def _run(session, feeds, arrays, fetches, targets):
    part = session._npu.slice(feeds, fetches, targets)
    names = [one.name for one in targets] + [one.op.name for one in fetches]
    times = iterations.count_of(session.graph, names)
    try:
        return part.run(arrays, times)
    except tf.errors.FailedPreconditionError as error:
        if "null session state" not in error.message:
            raise
        text = "a session on the NPU keeps no tensors behind handles (get_session_handle); keep them in a variable"
        raise tf.errors.UnimplementedError(None, None, f"{error.message}: {text}") from None


def _make_callable(self, fetches, feed_list=None, accept_options=False):
    if getattr(self, "_npu", None) is None or feed_list is not None:
        return _stock["make_callable"](self, fetches, feed_list, accept_options)
    handler = sessions._FetchHandler(self._graph, fetches, {})

    def run(options=None, run_metadata=None):
        if options is not None or run_metadata is not None:
            return self.run(fetches, options=options, run_metadata=run_metadata)
        results = self._do_call(_run, self, [], [], handler.fetches(), handler.targets())
        return handler.build_results(self, results)

    return run


class _Callable:
    """What Keras runs: a function of arrays."""

    def __init__(self, session, options):
        graph = session.graph
        self._session = session
        self._feeds = [graph.as_graph_element(name) for name in options.feed]
        self._fetches = [graph.as_graph_element(name) for name in options.fetch]
        self._targets = [graph.as_graph_element(name) for name in options.target]
        self._replaced = [
            (graph.as_graph_element(one.to_tensor), graph.as_graph_element(one.from_tensor))
            for one in options.tensor_connection
        ]

    def _run(self, arrays):
        part = self._session._npu.slice(self._feeds, self._fetches, self._targets, self._replaced)
        return part.run(arrays)

    def __call__(self, *args, run_metadata=None):
        arrays = [np.asarray(value, feed.dtype.as_numpy_dtype) for value, feed in zip(args, self._feeds, strict=True)]
        return self._session._do_call(self._run, arrays)


def _make_callable_from_options(self, callable_options):
    if getattr(self, "_npu", None) is None:
        return _stock["_make_callable_from_options"](self, callable_options)
    return _Callable(self, callable_options)


def _partial_run_setup(self, fetches, feeds=None):
    if getattr(self, "_npu", None) is None:
        return _stock["partial_run_setup"](self, fetches, feeds)
    raise _no_parts()


def _no_parts():
    text = "partial_run: a run on the NPU is one function and cannot stop in between; call run() with all feeds"
    return tf.errors.UnimplementedError(None, None, text)


def _run_whole(self, fetches, feed_dict=None, options=None, run_metadata=None):
    if getattr(self, "_npu", None) is None:
        return _stock["run"](self, fetches, feed_dict, options, run_metadata)
    if options is not None:
        _tell_of(options)
    start = time.time_ns()
    results = _results(self, fetches, feed_dict)
    if run_metadata is not None:
        _fill(run_metadata, start, options)
    return results


def _results(session, fetches, feed_dict):
    key = None if session._closed or host.asked() else prepared.key(fetches, feed_dict)
    run = session._npu.runs.get(key)
    if run is not None and (arrays := run.arrays(feed_dict)) is not None:
        return run.run(session, arrays)
    results = _stock["run"](session, fetches, feed_dict)
    if key is not None and run is None:
        session._npu.runs[key] = prepared.prepare(session, fetches, feed_dict)
    return results


def _tell_of(options):
    for field, why in {
        "timeout_in_ms": "set the option stream_sync_timeout instead",
        "output_partition_graphs": "DUMP_GE_GRAPH writes the graphs that run",
        "debug_options": "the option dump_config writes tensors",
    }.items():
        if options.HasField(field) if field == "debug_options" else getattr(options, field):
            telling.once(field, f"RunOptions.{field} has no effect on the NPU: {why}")


def _fill(metadata, start, options):
    """The run as one step; nodes are told apart by profiling."""
    metadata.Clear()
    if options is None or options.trace_level == options.NO_TRACE:
        return
    telling.once(
        "RunMetadata",
        "RunMetadata tells the time of the whole run on the NPU; profiling_config tells that of each node",
    )
    micros = (time.time_ns() - start) // 1000
    device_stats = metadata.step_stats.dev_stats.add(device=device.open().name())
    device_stats.node_stats.add(
        node_name="run",
        timeline_label="session run",
        all_start_micros=start // 1000,
        all_end_rel_micros=micros,
        op_end_rel_micros=micros,
    )
