# SPDX-License-Identifier: Apache-2.0
"""Callbacks of Keras in sessions: those of npu_device.distribute."""

from npu_device.distribute.hccl import npu_callbacks_append
from npu_device.distribute.npu_callbacks import NPUBroadcastGlobalVariablesCallback

__all__ = ["NPUBroadcastGlobalVariablesCallback", "npu_callbacks_append"]
