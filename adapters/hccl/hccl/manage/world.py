# SPDX-License-Identifier: Apache-2.0
"""The C functions behind hccl.manage.api."""

import ctypes
import functools
import os
from pathlib import Path

from hccl.manage import c_interface

HERE = Path(__file__).resolve().parent
CORE = "libanynpu.so"


def path():
    """ANYNPU_LIBRARY, else beside this package as the wheel installs it, else in the build folder of the checkout."""
    places = [HERE.parents[1] / "anynpu/lib64" / CORE, HERE.parents[3] / "build/lib" / CORE]
    places[:0] = [Path(named) for named in [os.environ.get("ANYNPU_LIBRARY")] if named]
    for place in places:
        if place.exists():
            return place
    raise ImportError(f"{CORE} is not in {' nor '.join(str(p.parent) for p in places)}; install AnyNPU: pip install .")


@functools.cache
def library():
    try:  # that of a framework which is loaded: two in one process would not know of each other's devices
        core = ctypes.CDLL(CORE, os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        core = ctypes.CDLL(str(path()))
    core.aclGetRecentErrMsg.restype = ctypes.c_char_p
    return c_interface.declare(core)


def text():
    return (library().aclGetRecentErrMsg() or b"").decode(errors="replace")


def device_of_table():
    """The device that the rank table gives this rank; -1 without a table."""
    found = []
    who_am_i = library().anynpu_who_am_i
    who_am_i(who_am_i.argtypes[0](lambda one, _: found.append(one.contents.device)), None)
    return found[0]


_settled = False  # joined, or left


def join_once():
    """Joins the ranks unless that was done, or undone; RuntimeError says what is wrong."""
    if not _settled:
        join(None)


def join(device):
    global _settled
    core = library()
    bound = ctypes.c_int32(-1)
    if device is None and core.aclrtGetDevice(ctypes.byref(bound)) != 0:
        named = os.environ.get("ASCEND_DEVICE_ID") or os.environ.get("LOCAL_RANK")
        device = int(named) if named else max(device_of_table(), 0)
    if device is not None and core.aclrtSetDevice(ctypes.c_int32(device)) != 0:
        raise RuntimeError(text())
    if core.anynpu_world_join() != 0:  # done at once where a framework has joined them
        raise RuntimeError(text())
    _settled = True


def leave():
    global _settled
    _settled = True
    if library().anynpu_world_leave() != 0:
        raise RuntimeError(text())


def call(function, *arguments):
    """None, or the text of what went wrong."""
    return None if library()[function](*arguments) == 0 else text()


def number(function, *arguments):
    """(number, None) or (None, text)."""
    out = ctypes.c_uint32()
    wrong = call(function, *arguments, ctypes.byref(out))
    return (out.value, None) if wrong is None else (None, wrong)
