# SPDX-License-Identifier: Apache-2.0
"""Where older scripts take the functions of the vendor's operators from."""

import importlib

__all__ = ["get_gen_ops", "version"]
version = "v1.15.0"  # of TensorFlow, whose scripts these are


def get_gen_ops():
    """The module with a function for each operator (npu_device.gen_npu_ops)."""
    return importlib.import_module("npu_device.gen_npu_ops")
