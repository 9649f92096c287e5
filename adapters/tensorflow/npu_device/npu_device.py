# SPDX-License-Identifier: Apache-2.0
"""The vendor's adapter has these in a module of this name, by which scripts call them: npu.npu_device.open()."""

from npu_device.device import NpuDeviceHandle, open
from npu_device.overflow import is_inf_nan_enabled, set_device_sat_mode

__all__ = ["NpuDeviceHandle", "is_inf_nan_enabled", "open", "set_device_sat_mode"]
