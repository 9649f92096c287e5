# SPDX-License-Identifier: Apache-2.0
"""Optimizers for an NPU."""

from npu_device.train.optimizer.npu_loss_scale_optimizer import (
    NpuExperimentalLossScaleOptimizer,
    NpuLossScaleOptimizer,
)

__all__ = ["NpuExperimentalLossScaleOptimizer", "NpuLossScaleOptimizer"]
