# SPDX-License-Identifier: Apache-2.0
"""libanynpu_tensorflow.so of this installation, and TensorFlow's capsules around what it gives."""

import ctypes as C
import json
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
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
    """Loads the adapter; TensorFlow must have been imported, for it uses its C API."""
    library = C.CDLL(str(path()))
    library.anynpu_tensorflow_callbacks.restype = C.c_void_p
    library.anynpu_tensorflow_device.restype = C.c_void_p
    _declare_operators(library)
    return library


operators = []  # the names of the vendor's own, known to TensorFlow once the library is loaded


def _declare_operators(library):
    reasons = []
    visit = C.CFUNCTYPE(None, C.c_char_p)
    library.anynpu_tensorflow_operators(
        visit(lambda name: operators.append(name.decode())), visit(lambda text: reasons.append(text.decode()))
    )
    if reasons:
        raise ImportError(f"TensorFlow does not take the operators of the NPU: {reasons[0]}")


def text_of(code):
    """Why a function of the engine refused; "" for the code of success."""
    text = load().aclGetRecentErrMsg
    text.restype = C.c_char_p
    return "" if code == 0 else text().decode()


def told(function, structure):
    """What a function that visits structures of the C interface tells: the members of each by name."""
    found = []
    names = [name for name, _ in structure._fields_]
    kind = C.CFUNCTYPE(None, C.POINTER(structure), C.c_void_p)
    visit = kind(lambda one, _: found.append({name: getattr(one.contents, name) for name in names}))
    getattr(load(), function)(visit, None)
    return found


def open_device(device_id, name):
    """The engine behind a device, to register under this name."""
    reasons = []
    refused = C.CFUNCTYPE(None, C.c_char_p)(lambda text: reasons.append(text.decode()))
    device = load().anynpu_tensorflow_device(device_id, name.encode(), refused)
    if not device:
        raise RuntimeError(f"Failed open npu device {device_id} : {reasons[0]}")
    return device


def log(text, level=INFO):
    """A line in the form of TensorFlow's own, see adapters/tensorflow/log.h."""
    load().anynpu_tensorflow_log(level, text.encode())


def report(info):
    found = []
    visit = C.CFUNCTYPE(None, C.c_char_p, C.c_void_p)(lambda text, _: found.append(json.loads(text)))
    load().anynpu_tensorflow_report(C.c_void_p(info), visit)
    return found[0]["functions"]


def switch_fusion(info, text):
    """Switches fusion passes as the text of a switch file says; gives the names that no pass has. ValueError with line
    and column for a text that is none."""
    names = []
    visit = C.CFUNCTYPE(None, C.c_char_p, C.c_void_p)(lambda name, _: names.append(name.decode()))
    call = load().anynpu_tensorflow_switch_fusion
    call.restype = C.c_char_p
    refused = call(C.c_void_p(info), text, C.c_size_t(len(text)), visit)
    if refused:
        raise ValueError(refused.decode().partition("] ")[2])
    return names


def fusion_results(info):
    """What the fusion passes did to the functions of a device, in the vendor's form."""
    found = {}
    visit = C.CFUNCTYPE(None, C.c_char_p, C.c_void_p)(lambda text, _: found.update(json.loads(text)))
    load().anynpu_tensorflow_fusions(C.c_void_p(info), visit)
    return found


def fusions():
    """The names of all fusion passes, in the order in which they run."""
    names = []
    visit = C.CFUNCTYPE(None, C.c_char_p, C.c_char_p, C.c_char_p, C.c_void_p)(
        lambda name, *_: names.append(name.decode())
    )
    load().anynpu_each_fusion(visit, None)
    return names


def set_precision(info, option, text):
    """Hands an option of precision to the engine; gives sentences about what in it has no effect. ValueError with the
    reason where it is refused."""
    notices = []
    visit = C.CFUNCTYPE(None, C.c_char_p, C.c_void_p)(lambda notice, _: notices.append(notice.decode()))
    call = load().anynpu_tensorflow_set_precision
    call.restype = C.c_char_p
    refused = call(C.c_void_p(info), option.encode(), text, C.c_size_t(len(text)), visit)
    if refused:
        raise ValueError(refused.decode(errors="replace").partition("] ")[2])
    return notices


_kept = []  # callbacks that C++ may call as long as the process lives


def on_thread_start(function):
    """Calls `function` on every thread that Python code of a graph runs on, before the first such code."""
    _kept.append(C.CFUNCTYPE(None)(function))
    load().anynpu_tensorflow_thread_start(_kept[-1])


def live():
    counts = C.c_size_t(), C.c_size_t()
    load().anynpu_live(*map(C.byref, counts))
    return tuple(count.value for count in counts)


def capsule(pointer, name):
    """A PyCapsule as TensorFlow's registration wants it; the name must outlive it."""
    new = C.pythonapi.PyCapsule_New
    new.restype, new.argtypes = C.py_object, [C.c_void_p, C.c_char_p, C.c_void_p]
    return new(pointer, name, None)
