# SPDX-License-Identifier: Apache-2.0
"""TensorFlow on an NPU, as the vendor's adapter of this name has it:

import npu_device as npu
npu.open().as_default()

Importing the package does not import TensorFlow; the first use of a name that needs it does.
"""

import importlib

from npu_device.adapter import arrival
from npu_device.setting import environment  # noqa: F401 (checks variables that are read at import)
from npu_device.setting.loop import set_npu_loop_size
from npu_device.setting.options import global_options
from npu_device.setting.overflow import is_inf_nan_enabled, set_device_sat_mode

MODULES = ("compat", "distribute", "gen_npu_ops", "npu_device", "ops", "profiler", "session", "train")
NAMES = {
    "NpuDeviceHandle": "device",
    "close": "device",
    "keep_dtype_scope": "scope",
    "npu_compat_function": "device",
    "npu_recompute_scope": "scope",
    "npu_run_context": "scope",
    "open": "device",
}  # and the modules that they are in
__all__ = ["NpuDeviceHandle", "close", "compat", "distribute", "gen_npu_ops", "global_options", "is_inf_nan_enabled",
           "keep_dtype_scope", "npu_compat_function", "npu_device", "npu_recompute_scope", "npu_run_context", "open",
           "ops", "profiler", "session", "set_device_sat_mode", "set_npu_loop_size", "train"]  # fmt: skip

arrival.then(lambda: importlib.import_module("npu_device.patch.physical").list_npus())


def __getattr__(name):
    if name in MODULES:
        return importlib.import_module(f"npu_device.{name}")
    if name in NAMES:
        return getattr(importlib.import_module(f"npu_device.{NAMES[name]}"), name)
    raise AttributeError(f"module 'npu_device' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
