# SPDX-License-Identifier: Apache-2.0
"""Refused: functions that call kernels of the card's own compiler."""

raise ImportError(
    "npu_bridge.tbe is not built: its functions call kernels of the card's own compiler (TBE). For deformable_conv2d "
    "use tf.gather_nd at the sampled positions and tf.matmul, or convert the model to ONNX, whose DeformConv atc takes"
)
