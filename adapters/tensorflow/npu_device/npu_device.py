# SPDX-License-Identifier: Apache-2.0
"""The vendor's adapter has these in a module of this name, by which scripts call them: npu.npu_device.open()."""

import importlib

from npu_device.setting.loop import set_npu_loop_size
from npu_device.setting.options import global_options
from npu_device.setting.overflow import is_inf_nan_enabled, set_device_sat_mode

LATER = {
    "NpuDeviceHandle": "device",
    "close": "device",
    "global_npu_ctx": "device",
    "keep_dtype_scope": "scope",
    "npu_compat_function": "device",
    "npu_recompute_scope": "scope",
    "npu_run_context": "scope",
    "open": "device",
}  # these need TensorFlow
__all__ = ["global_options", "is_inf_nan_enabled", "set_device_sat_mode", "set_npu_loop_size"]
__all__ += LATER


def __getattr__(name):
    if name == "gen_npu_ops":  # it loads our library
        return importlib.import_module("npu_device.gen_npu_ops")
    if name in LATER:
        return getattr(importlib.import_module(f"npu_device.{LATER[name]}"), name)
    raise AttributeError(f"module 'npu_device.npu_device' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__, "gen_npu_ops"})
