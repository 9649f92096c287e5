# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 2 on an NPU, as the vendor's adapter of this name has it:

import npu_device as npu
npu.open().as_default()
"""

from npu_device.device import NpuDeviceHandle, close, open
from npu_device.loop import set_npu_loop_size
from npu_device.options import global_options

__all__ = ["NpuDeviceHandle", "close", "global_options", "open", "set_npu_loop_size"]
