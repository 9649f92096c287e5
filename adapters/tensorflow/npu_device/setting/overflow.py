# SPDX-License-Identifier: Apache-2.0
"""How the devices treat overflow, and what they have seen of it."""

import ctypes as C

from npu_device.adapter import library

SATURATION, INF_NAN = 0, 1
NAMES = {0: "float32", 1: "float16", 27: "bfloat16"}  # aclDataType; no other type saturates


def set_device_sat_mode(mode):
    """How all devices of the process treat overflow from the next operator on: 0 saturates, as an Ascend910A always
    does, 1 gives infinities and NaN. ValueError for anything else, RuntimeError for 1 where the SoC only saturates."""
    if mode not in (SATURATION, INF_NAN) or isinstance(mode, float):
        raise ValueError(f"the overflow mode is {mode!r}; it must be 0 (saturation) or 1 (infinities and NaN)")
    if reason := library.reason_of(library.load().anynpu_set_overflow_mode(int(mode))):
        raise RuntimeError(reason)


def is_inf_nan_enabled():
    """Whether overflow gives infinities and NaN; False where it saturates."""
    mode = C.c_int32()
    if reason := library.reason_of(library.load().anynpu_overflow_mode(0, C.byref(mode))):
        raise RuntimeError(reason)
    return mode.value == INF_NAN


def detect(device_id, flag):
    """The option overflow_flag, for a device that is opened: with 0 no overflow sets its word."""
    library.load().anynpu_detect_overflows(device_id, flag)


def undetected(device_id=0):
    """Whether the device saturates and nobody can tell when it did."""
    on = C.c_int32(1)
    library.load().anynpu_overflow_detection(device_id, C.byref(on))
    return not on.value and not is_inf_nan_enabled()


def _described(pointer, _):
    o = pointer.contents
    return {
        "step": o.step, "function": o.function.decode(), "node": o.node.decode(), "type": o.type.decode(),
        "output": o.output.decode(), "dtype": NAMES[o.dtype], "shape": tuple(o.sizes[: o.rank]), "min": o.least,
        "max": o.most, "inf": o.infinities, "nan": o.nans, "saturated": o.saturated,
    }  # fmt: skip


def seen(device_id):
    """The overflows of a device as dictionaries, see NpuDeviceHandle.overflows."""
    return library.visited("anynpu_each_overflow", device_id, kept=_described)[1]
