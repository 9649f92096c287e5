# SPDX-License-Identifier: Apache-2.0
"""What training on an NPU needs besides TensorFlow."""

from npu_device.train import optimizer

__all__ = ["optimizer"]
