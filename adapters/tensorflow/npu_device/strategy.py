# SPDX-License-Identifier: Apache-2.0
"""Strategies of one device. The vendor's guide (6.8) has scripts ask for OneDeviceStrategy on the CPU, and trains them
on the NPU, which is the default device."""

import functools

from tensorflow.python.distribute import device_util, one_device_strategy
from tensorflow.python.eager import context

from npu_device import library


def place_on_the_default_npu():
    """A OneDeviceStrategy on the CPU, made where an NPU is the default device, is one on that NPU. Inside
    `with tf.device("CPU")` it stays what it is."""
    extended = one_device_strategy.OneDeviceExtended
    build = extended.__init__
    if hasattr(build, "_npu_device"):
        return

    @functools.wraps(build)
    def placed(self, container_strategy, device):
        default = context.context().device_name or ""
        if ":NPU:" in default and ":CPU:" in device_util.resolve(device):
            library.log(f"OneDeviceStrategy on {device} trains on {default}, the default device")
            device = default
        build(self, container_strategy, device)

    placed._npu_device = True
    extended.__init__ = placed
