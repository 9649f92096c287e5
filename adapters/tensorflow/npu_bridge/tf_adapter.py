# SPDX-License-Identifier: Apache-2.0
"""Refused: the vendor's binding of its own C++ library."""

raise ImportError(
    "npu_bridge.tf_adapter is not built: it binds the vendor's own C++ library. Options of sessions are names of "
    "npu_bridge.estimator.npu.npu_config and keys of the NpuOptimizer's parameter_map; processes meet by "
    "npu_bridge.hccl"
)
