# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 2 on an NPU, as the vendor's adapter of this name has it:

import npu_device as npu
npu.open().as_default()
"""

import importlib

from npu_device import npu_device
from npu_device.device import NpuDeviceHandle, close, npu_compat_function, open
from npu_device.scope import keep_dtype_scope, npu_recompute_scope, npu_run_context
from npu_device.setting.loop import set_npu_loop_size
from npu_device.setting.options import global_options
from npu_device.setting.overflow import is_inf_nan_enabled, set_device_sat_mode

LATER = (
    "distribute",
    "gen_npu_ops",
    "ops",
    "profiler",
    "train",
)  # load more of TensorFlow, or our library: at their first use
__all__ = ["NpuDeviceHandle", "close", "distribute", "gen_npu_ops", "global_options", "is_inf_nan_enabled",
           "keep_dtype_scope", "npu_compat_function", "npu_device", "npu_recompute_scope", "npu_run_context", "open",
           "ops", "profiler", "set_device_sat_mode", "set_npu_loop_size", "train"]  # fmt: skip


def __getattr__(name):
    if name in LATER:
        return importlib.import_module(f"npu_device.{name}")
    raise AttributeError(f"module 'npu_device' has no attribute {name!r}")
