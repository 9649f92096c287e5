# SPDX-License-Identifier: Apache-2.0
"""The NPUs in tf.config. TensorFlow does not list custom devices; scripts ask its list whether there is an accelerator,
and then prepare it as they prepare a GPU."""

import functools

from tensorflow.python.eager import context

from npu_device.adapter import library
from npu_device.patch import once


@functools.cache
def _configured():
    """(SoC, number of NPUs) that this process sees; RuntimeError with the reason for settings that make no sense."""
    [configured] = library.members("anynpu_configured")
    if configured["problem"]:
        raise RuntimeError(configured["problem"].decode())
    return configured["soc"].decode(), configured["device_count"]


def npus():
    """The NPUs as TensorFlow lists devices."""
    return [context.PhysicalDevice(f"/physical_device:NPU:{i}", "NPU") for i in range(_configured()[1])]


def _is_npu(device):
    return isinstance(device, context.PhysicalDevice) and device.device_type == "NPU"


def _is_listed(device):
    return _is_npu(device) and device in npus()


def _listed(theirs, self, device_type=None):
    mine = npus() if device_type in (None, "NPU") else []
    return theirs(self, device_type) + mine


def _set_visible(theirs, self, devices, device_type=None):
    given = devices if isinstance(devices, list) else [devices]
    mine = [device for device in given if _is_npu(device)]
    if device_type == "NPU" or mine:
        if device_type not in (None, "NPU"):
            raise ValueError(f"{mine[0]} is no {device_type}")
        if mine != npus():
            raise ValueError("NPUs cannot be hidden from TensorFlow; npu.open(1), or ASCEND_DEVICE_ID=1, chooses one, "
                             "and a script that opens none uses none")  # fmt: skip
    others = [device for device in given if not _is_npu(device)]
    if others or device_type != "NPU":
        theirs(self, others, device_type)


def _details(theirs, self, device):
    return {"device_name": _configured()[0]} if _is_listed(device) else theirs(self, device)


def _growth(theirs, self, device):
    return True if _is_listed(device) else theirs(self, device)


def _set_growth(theirs, self, device, enable):
    if not _is_listed(device):
        return theirs(self, device, enable)
    if not enable:
        raise ValueError("the memory of an NPU is taken as it is used; leave set_memory_growth(…, False) out")


def _set_logical(theirs, self, device, virtual_devices):
    if _is_listed(device):
        raise ValueError("an NPU is one logical device; ANYNPU_DEVICES sets how many there are, ANYNPU_MEMORY what "
                         "memory each has")  # fmt: skip
    return theirs(self, device, virtual_devices)


def _logical(theirs, self, device):
    return None if _is_listed(device) else theirs(self, device)


_METHODS = {
    "list_physical_devices": _listed,
    "get_visible_devices": _listed,
    "set_visible_devices": _set_visible,
    "get_device_details": _details,
    "get_memory_growth": _growth,
    "set_memory_growth": _set_growth,
    "set_logical_device_configuration": _set_logical,
    "get_logical_device_configuration": _logical,
}


def _method(mine, theirs):
    return lambda self, *arguments, **named: mine(theirs, self, *arguments, **named)


def list_npus():
    """From now on tf.config knows the NPUs; for every other device it answers as before."""
    for name, mine in _METHODS.items():
        once.replace(context.Context, name, functools.partial(_method, mine))
