# SPDX-License-Identifier: Apache-2.0
"""Activations of the NPU, in graphs of TensorFlow 1 too."""

from npu_device.ops import gelu

__all__ = ["gelu"]
