# SPDX-License-Identifier: Apache-2.0
"""Activations of the NPU, in graphs of TensorFlow 1 too."""

import sys

from npu_device.ops import gelu

__all__ = ["gelu"]
npu_unary_ops = sys.modules[__name__]  # scripts import the module from itself
