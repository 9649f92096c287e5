# SPDX-License-Identifier: Apache-2.0
"""libtfdbg_ascend.so of this installation. It needs TensorFlow alone: no NPU, and no other library of ours."""

import ctypes as C
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME = "libtfdbg_ascend.so"
REFUSED = C.CFUNCTYPE(None, C.c_char_p)
FUNCTIONS = {
    "load": (C.c_char_p,),
    "set_on": (None, C.c_bool),
    "is_on": (C.c_bool,),
    "set_folder": (None, C.c_char_p),
    "copy": (C.c_char_p, C.c_void_p, C.c_char_p, REFUSED),
    "put": (None, C.c_char_p, C.c_int64, C.c_int, C.POINTER(C.c_int64), C.c_size_t, C.c_void_p, C.c_size_t),
    "finish": (None,),
}


def path():
    """Beside this file when installed from the wheel, else in the build folder of the checkout."""
    places = [HERE / NAME, HERE.parents[2] / "build/tfdbg_ascend" / NAME]
    for place in places:
        if place.exists():
            return place
    raise ImportError(f"{NAME} is not in {' nor '.join(str(p.parent) for p in places)}; install AnyNPU: pip install .")


@cache
def load():
    """Loads the library; TensorFlow must have been imported, for it uses its C API."""
    library = C.CDLL(str(path()))
    for name, (result, *arguments) in FUNCTIONS.items():
        function = getattr(library, f"tfdbg_ascend_{name}")
        function.restype, function.argtypes = result, arguments
    if reason := library.tfdbg_ascend_load():
        raise ImportError(f"TensorFlow does not take the operator that dumps: {reason.decode()}")
    return library


def copy_of(context, function):
    """The name of a copy of a function that dumps, both as bytes."""
    reasons = []
    name = load().tfdbg_ascend_copy(context, function, REFUSED(lambda text: reasons.append(text.decode())))
    if name is None:
        raise RuntimeError(reasons[0])
    return name
