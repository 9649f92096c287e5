# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 2 on an NPU, as the vendor's adapter of this name has it:

    import npu_device as npu
    npu.open().as_default()
"""

from npu_device.device import NpuDeviceHandle, close, open  # noqa: A004 - the vendor's name

__all__ = ["NpuDeviceHandle", "close", "open"]
