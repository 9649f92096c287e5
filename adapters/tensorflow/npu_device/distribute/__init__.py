# SPDX-License-Identifier: Apache-2.0
"""npu.distribute: what scripts for several NPUs call. A process that trains alone gets back what it gave, as with the
vendor's adapter."""

from npu_device.distribute.hccl import (
    all_reduce,
    broadcast,
    grouping_broadcast,
    grouping_gradients_apply,
    npu_distributed_keras_optimizer_wrapper,
    shard_and_rebatch_dataset,
)

__all__ = [
    "all_reduce",
    "broadcast",
    "grouping_broadcast",
    "grouping_gradients_apply",
    "npu_distributed_keras_optimizer_wrapper",
    "shard_and_rebatch_dataset",
]
