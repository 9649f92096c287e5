# SPDX-License-Identifier: Apache-2.0
"""The vendor's adapter has these in a module of this name, by which scripts call them: npu.npu_device.open()."""

import importlib

from npu_device.device import NpuDeviceHandle, close, global_npu_ctx, npu_compat_function, open
from npu_device.scope import keep_dtype_scope, npu_recompute_scope, npu_run_context
from npu_device.setting.loop import set_npu_loop_size
from npu_device.setting.options import global_options
from npu_device.setting.overflow import is_inf_nan_enabled, set_device_sat_mode

__all__ = ["NpuDeviceHandle", "close", "global_npu_ctx", "global_options", "is_inf_nan_enabled",
           "keep_dtype_scope", "npu_compat_function", "npu_recompute_scope", "npu_run_context", "open",
           "set_device_sat_mode", "set_npu_loop_size"]  # fmt: skip


def __getattr__(name):
    if name == "gen_npu_ops":  # it loads our library
        return importlib.import_module("npu_device.gen_npu_ops")
    raise AttributeError(f"module 'npu_device.npu_device' has no attribute {name!r}")
