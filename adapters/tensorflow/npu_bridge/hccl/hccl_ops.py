# SPDX-License-Identifier: Apache-2.0
"""Collectives in graphs, see npu_device.distribute.hccl_ops."""

from npu_device.distribute.hccl_ops import (
    WORLD,
    all_to_all_v,
    all_to_all_v_c,
    allgather,
    allreduce,
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
from npu_device.distribute.hccl_ops import broadcast as _broadcast

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


def broadcast(tensor_list=None, root_rank=None, fusion=2, fusion_id=0, group=WORLD, *, tensor=None):
    """A list with the tensors of `root_rank`. Older scripts call the first parameter `tensor`."""
    given = [one for one in (tensor_list, tensor) if one is not None]
    if len(given) != 1 or root_rank is None:
        raise TypeError("broadcast needs tensor_list (or tensor, its older name) and root_rank")
    return _broadcast(given[0], root_rank, fusion, fusion_id, group)
