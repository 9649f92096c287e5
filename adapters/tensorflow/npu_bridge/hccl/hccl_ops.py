# SPDX-License-Identifier: Apache-2.0
"""Collectives in graphs, see npu_device.distribute.hccl_ops."""

from npu_device.distribute.hccl_ops import (
    WORLD,
    all_to_all_v,
    all_to_all_v_c,
    allgather,
    allreduce,
    broadcast,
    gather_all_to_all_v,
    receive,
    reduce,
    reduce_scatter,
    remote_read,
    remote_ref_read,
    remote_scatter_write,
    remote_write,
    send,
)

__all__ = [
    "WORLD",
    "all_to_all_v",
    "all_to_all_v_c",
    "allgather",
    "allreduce",
    "broadcast",
    "gather_all_to_all_v",
    "receive",
    "reduce",
    "reduce_scatter",
    "remote_read",
    "remote_ref_read",
    "remote_scatter_write",
    "remote_write",
    "send",
]
