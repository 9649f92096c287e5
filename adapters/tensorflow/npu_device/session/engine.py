# SPDX-License-Identifier: Apache-2.0
"""One session in the adapter's C++ library: its graph, and the slices of it that runs have named."""

import atexit
import ctypes as C
import os
import threading
import weakref

from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.eager import context
from tensorflow.python.framework import errors_impl

from npu_device.adapter import c_interface, library
from npu_device.session import tensor

_failure = threading.local()
_open = weakref.WeakSet()  # engines whose sessions were not closed
_running = set()  # an object for each run that is under way
_unwanted = threading.Event()  # what TensorFlow keeps of sessions
_gate = threading.RLock()  # no run begins while TensorFlow forgets


def _renew_gate():
    global _gate
    _gate = threading.RLock()


os.register_at_fork(after_in_child=_renew_gate)


@c_interface.FUNCTIONS["anynpu_tensorflow_session"][-1]
def _refused(code, reason):
    _failure.code, _failure.reason = code, reason.decode(errors="replace")


def _raise():
    kind = errors_impl.exception_type_from_error_code(_failure.code)
    raise kind(None, None, _failure.reason)


def _texts(names):
    return (C.c_char_p * len(names))(*[name.encode() for name in names]), len(names)


def _eager_context():
    """TensorFlow's TFE_Context."""
    context.ensure_initialized()
    pointer = C.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = C.c_void_p, [C.py_object, C.c_char_p]
    return pointer(context.context()._handle, None)


def _forget_kernels():
    """TensorFlow keeps the kernels that made queues, tables and iterators, and these with them, for the next operator
    of the same name: without a session there is none. Kernels that run need what else it forgets then."""
    if not _unwanted.is_set():
        return
    with _gate:
        if _unwanted.is_set() and not _open and not _running:
            _unwanted.clear()
            context.context().clear_kernel_cache()


@atexit.register
def _end():
    """The end of the process waits for the runs of other threads: those that wait for a queue must end."""
    for engine in list(_open):
        engine.close()


class Slice:
    """A part of the graph, between feeds and fetches. May be run by several threads at once."""

    def __init__(self, pointer, feed_types, fetch_count):
        self._pointer, self._feed_types, self._fetch_count = pointer, feed_types, fetch_count
        self._functions = library.load()

    def run(self, arrays, times=1):
        """The fetches of the last of `times` runs with these feeds; what fails raises TensorFlow's errors."""
        feeds, fetches = (tensor.Tensor * len(arrays))(), (tensor.Tensor * self._fetch_count)()
        held = []
        for feed, array, dtype in zip(feeds, arrays, self._feed_types, strict=True):
            tensor.give(feed, array, dtype, held)
        with _gate:
            _running.add(run := object())
        try:
            fetched = self._functions.anynpu_tensorflow_run(self._pointer, times, feeds, fetches, _refused)
        finally:
            _running.discard(run)
            _forget_kernels()
        if not fetched:
            _raise()
        try:
            return [tensor.array_of(one) for one in fetches]
        finally:
            self._functions.anynpu_tensorflow_fetched_release(fetched)

    def compile(self):
        if not self._functions.anynpu_tensorflow_compile(self._pointer, _refused):
            _raise()

    def __del__(self):
        self._functions.anynpu_tensorflow_slice_release(self._pointer)


class Engine:
    """What a session keeps, on the device of the handle `info`."""

    def __init__(self, info, graph):
        self._functions = library.load()
        self._graph, self._version = graph, None
        self._lock = threading.Lock()
        self._slices = {}
        self._process = os.getpid()
        self.runs = {}  # see prepared.py
        with _gate:
            self._pointer = self._functions.anynpu_tensorflow_session(info, _eager_context(), _refused)
            if not self._pointer:
                _raise()
            _open.add(self)

    def slice(self, feeds, fetches, targets, replaced=()):
        """The slice between these tensors and operations of the graph; `replaced` are pairs of tensors, old and new."""
        key = (
            tuple([one.name for one in feeds]),
            tuple([one.name for one in fetches]),
            tuple([one.name for one in targets]),
            tuple([one.name for pair in replaced for one in pair]),
        )
        found = self._slices.get(key)
        if found is None:
            with self._lock:
                found = self._slices.get(key)
                if found is None:
                    found = self._slices[key] = self._made(key, [one.dtype.base_dtype for one in feeds])
        return found

    def _made(self, key, feed_types):
        self._read_graph()
        feeds, fetches, targets, replaced = map(_texts, key)
        pointer = self._functions.anynpu_tensorflow_slice(
            self._pointer, *feeds, *fetches, *targets, replaced[0], replaced[1] // 2, _refused
        )
        if not pointer:
            _raise()
        return Slice(pointer, feed_types, len(key[1]))

    def _read_graph(self):
        """The graph as it is now, when it has grown."""
        if self._version == self._graph.version:
            return
        with self._graph._lock:
            version = self._graph.version
            buffer = pywrap_tf_session.TF_NewBuffer()
            try:
                with self._graph._c_graph.get() as c_graph:
                    pywrap_tf_session.TF_GraphToGraphDef(c_graph, buffer)
                data = pywrap_tf_session.TF_GetBuffer(buffer)
            finally:
                pywrap_tf_session.TF_DeleteBuffer(buffer)
        if not self._functions.anynpu_tensorflow_session_graph(self._pointer, data, len(data), _refused):
            _raise()
        self._version = version

    def close(self):
        """Ends what runs wait for. Runs of other threads may still be under way."""
        self._functions.anynpu_tensorflow_session_close(self._pointer)
        _open.discard(self)
        if self._process == os.getpid():  # a forked child has none of the threads to end
            _unwanted.set()
            _forget_kernels()

    def __del__(self):
        if getattr(self, "_pointer", None):
            self.runs.clear()
            self._slices.clear()
            self._functions.anynpu_tensorflow_session_release(self._pointer)
