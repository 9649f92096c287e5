# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's session classes, whose runs go to the NPU once enable() was called."""

import functools

import numpy as np
import tensorflow as tf
from tensorflow.python.client import session as sessions

from npu_device import device
from npu_device.patch import session as told
from npu_device.session import iterations
from npu_device.session.engine import Engine

_stock = {}  # what was there before


def enable():
    """From now on the sessions that are made compute on the NPU, unless their configuration says otherwise."""
    if _stock:
        return
    told.on_the_npu = True
    for name, replacement in {
        "__init__": _init,
        "close": _close,
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
    if not target:
        handle = device.open()
        self._npu = Engine(handle._info, self.graph)


def _engine(session):
    engine = getattr(session, "_npu", None)
    if engine is None:
        raise ValueError("this session is not on the NPU; make it after npu_device.compat.enable_v1()")
    return engine


def _close(self):
    if getattr(self, "_npu", None) is not None and not self._closed:
        self._npu.close()
    _stock["close"](self)


def _do_run(self, handle, target_list, fetch_list, feed_dict, options, run_metadata):
    if getattr(self, "_npu", None) is None:
        return _stock["_do_run"](self, handle, target_list, fetch_list, feed_dict, options, run_metadata)
    feeds = [ref.deref() for ref in feed_dict]
    arrays = list(feed_dict.values())
    return self._do_call(_run, self, feeds, arrays, fetch_list, target_list)


def _run(session, feeds, arrays, fetches, targets):
    part = session._npu.slice(feeds, fetches, targets)
    times = iterations.count_of(session.graph, [one.name for one in targets])
    return part.run(arrays, times)


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
    raise tf.errors.UnimplementedError(
        None,
        None,
        "partial_run: a run on the NPU is one function and cannot stop in between; call run() with all feeds",
    )
