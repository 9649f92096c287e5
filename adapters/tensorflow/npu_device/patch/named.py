# SPDX-License-Identifier: Apache-2.0
"""The NPU that scripts call /NPU:0. Each of several processes runs the same script on an NPU of its own, which has
another number: TensorFlow knows no NPU 0 there, and would silently take the CPU."""

import re

from tensorflow.python.eager import context

from npu_device.adapter import library
from npu_device.patch import once
from npu_device.setting import cluster

_NPU = re.compile(r"(?:/?|.*/device:|device:)NPU:\d+", re.IGNORECASE)
_FULL = "/job:localhost/replica:0/task:0/device:NPU:{}"


def _opened():
    """The NPUs that this process has opened, as TensorFlow calls them."""
    [configured] = library.members("anynpu_configured")
    every = map(_FULL.format, range(configured["device_count"]))
    return [name for name in every if context.is_custom_device(name)]


def meant(name):
    """`name`; where it is an NPU that this one of several processes has not opened, the one that it has."""
    if not isinstance(name, str) or not _NPU.fullmatch(name) or cluster.size() == 1:
        return name
    opened = _opened()
    return opened[0] if len(opened) == 1 and _FULL.format(int(name.rsplit(":", 1)[1])) not in opened else name


def mean_the_npu_of_this_process():
    """From now on tf.device goes by `meant`."""
    once.replace(context.Context, "device", lambda device: lambda self, name: device(self, meant(name)))
