# SPDX-License-Identifier: Apache-2.0
"""Many tensors of one type in one flat buffer."""

from .combine_tensors import FlatGrads, combine_npu, get_part_combined_tensor, is_combined_tensor_valid

__all__ = ["FlatGrads", "combine_npu", "get_part_combined_tensor", "is_combined_tensor_valid"]
