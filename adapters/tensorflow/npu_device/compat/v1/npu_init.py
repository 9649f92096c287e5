# SPDX-License-Identifier: Apache-2.0
"""`from npu_device.compat.v1.npu_init import *`: the names of npu_bridge.npu_init. `npu_device.compat.enable_v1()`
brings sessions to the NPU, the import alone does not."""

import importlib

_names = importlib.import_module("npu_bridge.npu_init")  # it has the bodies, and is imported without TensorFlow
__all__ = list(_names.__all__)


def __getattr__(name):
    if name in __all__:
        return _names.named(name)
    raise AttributeError(f"module 'npu_device.compat.v1.npu_init' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
