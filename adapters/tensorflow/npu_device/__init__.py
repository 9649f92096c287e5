# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 2 on an NPU, as the vendor's adapter of this name has it:

import npu_device as npu
npu.open().as_default()
"""

import importlib

from npu_device import npu_device
from npu_device.device import NpuDeviceHandle, close, open
from npu_device.loop import set_npu_loop_size
from npu_device.options import global_options
from npu_device.overflow import is_inf_nan_enabled, set_device_sat_mode

LATER = ("gen_npu_ops", "train")  # modules that load more of TensorFlow, or our library: at their first use
__all__ = ["NpuDeviceHandle", "close", "gen_npu_ops", "global_options", "is_inf_nan_enabled", "npu_device", "open",
           "set_device_sat_mode", "set_npu_loop_size", "train"]  # fmt: skip


def __getattr__(name):
    if name in LATER:
        return importlib.import_module(f"npu_device.{name}")
    raise AttributeError(f"module 'npu_device' has no attribute {name!r}")
