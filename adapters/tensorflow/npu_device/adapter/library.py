# SPDX-License-Identifier: Apache-2.0
"""libanynpu_tensorflow.so of this installation, and TensorFlow's capsules around what it gives."""

import ctypes as C
import importlib
import json
import os
from functools import cache
from pathlib import Path

from npu_device.adapter import c_interface

HERE = Path(__file__).resolve().parents[1]  # the package
NAME = "libanynpu_tensorflow.so"
INFO, WARNING, ERROR = 1, 2, 3


def path():
    """Beside this package when installed from the wheel, else in the build folder of the checkout."""
    places = [HERE.parent / "anynpu/lib64" / NAME, HERE.parents[2] / "build/lib" / NAME]
    for place in places:
        if place.exists():
            return place
    raise ImportError(f"{NAME} is not in {' nor '.join(str(p.parent) for p in places)}; install AnyNPU: pip install .")


@cache
def load():
    """Loads the adapter, and TensorFlow before it, for it uses its C API."""
    importlib.import_module("tensorflow")
    library = c_interface.declare(C.CDLL(str(path())))
    _declare_operators(library)
    return library


operators = []  # the names of the vendor's own, known to TensorFlow once the library is loaded


def _declare_operators(library):
    reasons = []
    named, refused = library.anynpu_tensorflow_operators.argtypes
    library.anynpu_tensorflow_operators(
        named(lambda name: operators.append(name.decode())), refused(lambda text: reasons.append(text.decode()))
    )
    if reasons:
        raise ImportError(f"TensorFlow does not take the operators of the NPU: {reasons[0]}")


def reason_of(code):
    """Why a function of the engine refused; "" for the code of success."""
    return "" if code == 0 else load().anynpu_recent_reason().decode()


def visited(function, *arguments, kept):
    """What a function of the C interface answers and, of each of its visits, `kept`."""
    found = []
    visit = c_interface.FUNCTIONS[function][-2](lambda *told: found.append(kept(*told)))
    return getattr(load(), function)(*arguments, visit, None), found


def members(function):
    """What a function that visits structures of numbers and texts tells: the members of each by name."""
    return visited(function, kept=lambda one, _: {n: getattr(one.contents, n) for n, _ in one._type_._fields_})[1]


def texts(function, *arguments):
    """What a function answers that visits texts, and the first text of each visit."""
    return visited(function, *arguments, kept=lambda text, *_: text.decode())


def open_device(device_id, name):
    """The engine behind a device, to register under this name."""
    reasons = []
    open_one = load().anynpu_tensorflow_device
    refused = open_one.argtypes[-1](lambda text: reasons.append(text.decode()))
    device = open_one(device_id, name.encode(), refused)
    if not device:
        raise RuntimeError(f"Failed open npu device {device_id} : {reasons[0]}")
    return device


def log(text, level=INFO):
    """A line in the form of TensorFlow's own, see adapters/tensorflow/log/log.h."""
    load().anynpu_tensorflow_log(level, text.encode())


def report(info):
    [text] = texts("anynpu_tensorflow_report", info)[1]
    return json.loads(text)["functions"]


def switch_fusion(info, text):
    """Switches fusion passes as the text of a switch file says; gives the names that no pass has. ValueError with line
    and column for a text that is none."""
    refused, names = texts("anynpu_tensorflow_switch_fusion", info, text, len(text))
    if refused:
        raise ValueError(refused.decode())
    return names


def fusion_results(info):
    """What the fusion passes did to the functions of a device, in the vendor's form."""
    [text] = texts("anynpu_tensorflow_fusions", info)[1]
    return json.loads(text)


def fusions():
    """The names of all fusion passes, in the order in which they run."""
    return texts("anynpu_each_fusion")[1]


def set_precision(info, option, text):
    """Hands an option of precision to the engine; gives sentences about what in it has no effect. ValueError with the
    reason where it is refused."""
    refused, notices = texts("anynpu_tensorflow_set_precision", info, option.encode(), text, len(text))
    if refused:
        raise ValueError(refused.decode(errors="replace"))
    return notices


def _taken(option, refused):
    if refused:
        raise ValueError(f"option {option}: {refused.decode(errors='replace')}")


def keep(info, mode, folder):
    """What compiling gives is kept below `folder`, "" for the default; ValueError where the engine refuses it."""
    _taken("op_compiler_cache_mode", load().anynpu_tensorflow_keep(info, mode.encode(), os.fsencode(folder)))


def overlap(info, on):
    """Whether collectives run beside the nodes that do not need their results."""
    _taken("hcom_parallel", load().anynpu_tensorflow_overlap(info, on))


def write_files(info, kinds, folder):
    """Files of these kinds for each function that is compiled, in the folder kernel_meta of `folder`."""
    _taken("debug_dir", load().anynpu_tensorflow_write_files(info, ",".join(kinds).encode(), os.fsencode(folder)))


_kept = []  # callbacks that C++ may call as long as the process lives


def on_thread_start(function):
    """Calls `function` on every thread that Python code of a graph runs on, before the first such code."""
    start = load().anynpu_tensorflow_thread_start
    _kept.append(start.argtypes[0](function))
    start(_kept[-1])


def live():
    counts = C.c_size_t(), C.c_size_t()
    load().anynpu_live(*map(C.byref, counts))
    return tuple(count.value for count in counts)


def capsule(pointer, name):
    """A PyCapsule as TensorFlow's registration wants it; the name must outlive it."""
    new = C.pythonapi.PyCapsule_New
    new.restype, new.argtypes = C.py_object, [C.c_void_p, C.c_char_p, C.c_void_p]
    return new(pointer, name, None)
