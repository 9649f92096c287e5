# SPDX-License-Identifier: Apache-2.0
"""Opening a device: it is registered with TensorFlow as a custom device and can become the default of every thread."""

import atexit
import os
import threading

import tensorflow as tf
from tensorflow.python.autograph.operators import control_flow
from tensorflow.python.data.ops import dataset_ops, iterator_ops
from tensorflow.python.eager import context
from tensorflow.python.framework import device_spec

from npu_device.adapter import library
from npu_device.patch import dlpack, named, seed, session, strategy
from npu_device.patch.feed import feed_keras_loops
from npu_device.patch.optimizer import warn_about_lr, warn_about_scaling
from npu_device.setting import (
    cache,
    cluster,
    debug,
    dump,
    environment,
    fusion,
    loop,
    overflow,
    precision,
    profiling,
    tuning,
    wait_limit,
)
from npu_device.setting.options import global_options

TENSORFLOW = "2.15.1"
_lock = threading.Lock()
_opened = {}  # in the order of opening
_default = None
reports = []  # functions that give more lines of NpuDeviceHandle.report()


class NpuDeviceHandle:
    """An opened device. `workers_num` processes train together, as the environment says."""

    def __init__(self, device_id):
        self._id = device_id
        self.workers_num, self._rank = cluster.world()
        self._name = f"/job:localhost/replica:0/task:0/device:NPU:{device_id}"
        self._scopes = []
        path = global_options().fusion_switch_file
        switches = fusion.read_switch_file(path) if path else None
        settings = precision.read(global_options())
        self._info = info = library.open_device(device_id, self._name)
        if switches is not None:
            fusion.switch(info, path, switches)
        precision.put_in_force(info, settings)
        debug.put_in_force(info, global_options())
        cache.put_in_force(info, global_options())
        library.overlap(info, global_options().hcom_parallel)
        overflow.detect(device_id, global_options().overflow_flag)
        if global_options().export_compile_stat == fusion.WITH_EACH_FUNCTION:
            fusion.export_always()
        callbacks = library.load().anynpu_tensorflow_callbacks()
        context.register_custom_device(
            library.capsule(callbacks, b"TFE_CustomDevice"),
            self._name,
            library.capsule(info, b"TFE_CustomDevice_DeviceInfo"),
        )
        seed.follow(info)

    def name(self):
        """TensorFlow's name of the device."""
        return self._name

    @property
    def worker_id(self):
        """The rank of this process. With CM_* only the meeting of all processes tells it, for which this waits."""
        if self._rank == cluster.UNKNOWN:
            _, self._rank = cluster.place(cluster.WORLD, self._id)
        return self._rank

    def is_cluster_worker(self):
        """Whether this process is one of several workers."""
        return self.workers_num > 1

    def report(self):
        """What became of each function: a list of {"name", "cache", "nodes", "host_nodes", "compile_ms", "peak_bytes",
        "host": [{"op", "reason", "runs", "bytes"}], "precision": [{"node", "op", "source", "dtype", "why", …}], …};
        cache tells whether an earlier process had compiled it, host are the nodes that ran on the CPU, precision tells
        in which dtype each node computes, where a mode is set."""
        return library.report(self._info) + [line for told in reports for line in told()]

    def overflows(self):
        """Where results overflowed in saturation mode: for the last 64 times that the device's word was set, the first
        result, as {"step", "function", "node", "type", "output", "dtype", "shape", "min", "max", "inf", "nan",
        "saturated"}, oldest first. `step` is how often loss scaling had cleared the word before; `min` and `max` are of
        the finite elements; "inf" and "nan" count elements before they were saturated, "saturated" those at the ends
        of the range afterwards."""
        return overflow.seen(self._id)

    def live(self):
        """How many variables and values of NPUs are alive, as (variables, values): counts that grow tell of handles
        that somebody keeps."""
        return library.live()

    def scope(self):
        """Operators created in a `with` block of this go to the device."""
        return context.context().device(self._name)

    def as_default(self):
        """Makes the device the default of this thread and of every Python thread started later. Returns self."""
        global _default
        scope = self.scope()
        scope.__enter__()
        _default = self
        self._scopes.append(scope)  # leaving it would take the default back
        _start_threads_on(self._name)
        _loop_over_datasets_in_graphs()
        feed_keras_loops()
        warn_about_lr()
        warn_about_scaling()
        return self


def global_npu_ctx():
    """The handle of the device that was made the default last; None before as_default()."""
    return _default


def npu_compat_function(func=None, *args, **kwargs):
    """tf.function without compilation by XLA, which an NPU has no use for: a decorator, with or without arguments."""
    for name in ("jit_compile", "experimental_compile"):
        if kwargs.pop(name, None):
            library.log(f"{name} is left out: functions are compiled for the NPU")
    return tf.function(func, *args, **kwargs)


def _start_threads_on(name):
    """TensorFlow keeps the default device per thread."""
    if hasattr(threading.Thread, "_npu_device"):
        threading.Thread._npu_device = name
        return
    bootstrap = threading.Thread._bootstrap_inner

    def go_there():
        device = threading.Thread._npu_device
        context.context()._set_device(device, tf.DeviceSpec.from_string(device))

    def on_device(self):
        go_there()
        bootstrap(self)

    threading.Thread._npu_device = name
    threading.Thread._bootstrap_inner = on_device
    # Graphs that Python code in a graph calls stay out of TensorFlow's pool, whose threads may all be waiting.
    library.on_thread_start(go_there)


def _loop_over_datasets_in_graphs():
    """`for x in dataset` inside a tf.function becomes a loop over its iterator. Autograph's own way puts the whole body
    into a function of the data set, which TensorFlow runs on the host."""
    registry = control_flow.for_loop_registry._registry
    iterate = registry[iterator_ops.OwnedIterator]
    for kind in (dataset_ops.DatasetV2, dataset_ops.DatasetV1):
        registry[kind] = lambda ds, *arguments: iterate(iter(ds), *arguments)


def number(device_id=None):
    """The device asked for; without a number that of ASCEND_DEVICE_ID, else the one opened first, else that of the rank
    table, else 0."""
    if device_id is not None:
        return int(device_id)
    text = os.environ.get("ASCEND_DEVICE_ID", "")
    if not text:
        return next(iter(_opened)) if _opened else cluster.device_of_table()
    if not text.strip().isdecimal():
        raise ValueError(f"ASCEND_DEVICE_ID is {text!r}; it must be the number of a device, such as 0")
    return int(text)


def in_use():
    """The device that was opened first; the one that open() takes where none is."""
    return next(iter(_opened)) if _opened else number()


def open(device_id=None):
    """Opens the device of this number; the same one again gives the same handle, another one a second device. Without a
    number: that of ASCEND_DEVICE_ID, else the device opened first, else the rank table's, else 0. RuntimeError for a
    device that is not there, ValueError for options or variables that exclude each other, ImportError for a TensorFlow
    other than 2.15.1."""
    if tf.__version__ != TENSORFLOW:
        raise ImportError(f"npu_device works with TensorFlow {TENSORFLOW}, not {tf.__version__}; "
                          f"install it with: pip install tensorflow-cpu=={TENSORFLOW}")  # fmt: skip
    global_options().verify()
    cluster.verify()
    with _lock:
        wanted = number(device_id)
        if wanted not in _opened:
            context.ensure_initialized()
            device_spec._VALID_DEVICE_TYPES |= {"NPU"}  # tf.device("/NPU:0")
            _opened[wanted] = _start(wanted)
        else:
            library.log(f"Npu instance on device {wanted} already created")
        return _opened[wanted]


def _start(device_id):
    """The lines around it are those by which users of the vendor's adapter see that it works."""
    options = [f"  {name}:{value}" for name, value in global_options().changed().items()]
    if not _opened:
        for line in ("Start graph engine with options:", *options, "Start graph engine succeed",
                     "Start tensorflow model parser succeed"):  # fmt: skip
            library.log(line)
        environment.tell_without_effect()
        dlpack.lend_from_npus()
        session.tell_of_the_cpu()
        strategy.place_on_the_default_npu()
        named.mean_the_npu_of_this_process()
        loop.tell_size()
        wait_limit.start(global_options())
        debug.start(global_options())
        dump.start(global_options())
    try:
        handle = NpuDeviceHandle(device_id)
        profiling.start(global_options(), device_id)
        tuning.start(global_options())
    except Exception as error:
        library.log(f"Failed open npu device {device_id} : {error}", library.ERROR)
        raise
    for line in (f"Create device instance {handle.name()} with extra options:", *options,
                 f"Npu device instance {handle.name()} created"):  # fmt: skip
        library.log(line)
    return handle


def is_open():
    """Whether a device was opened."""
    return bool(_opened)


def close():
    """Ends what reads data sets ahead. Nothing else has to be given back; the devices stay usable until the process
    ends, which closes them by itself."""
    if _opened:
        library.load().anynpu_tensorflow_close(0)


@atexit.register
def _end():
    """The end of the process, after what the program registered: waits for steps that other threads are in."""
    if _opened:
        library.load().anynpu_tensorflow_close(1)
        if global_options().export_compile_stat == fusion.AT_THE_END:
            fusion.export(handle._info for handle in _opened.values())
        library.log("Stop tensorflow model parser succeed")
        library.log("Stop graph engine succeed")
