# SPDX-License-Identifier: Apache-2.0
"""Who this process is among those that train together, as the environment says."""

import importlib

from npu_device.setting import cluster


def _met(function):
    """What hccl.manage.api tells when the processes have met."""
    return getattr(importlib.import_module("hccl.manage.api"), function)()


def get_npu_rank_size():
    """How many processes train together: RANK_SIZE, CM_WORKER_SIZE or the rank table; 1 without them."""
    return cluster.size()


def get_npu_rank_id():
    """This process's rank: RANK_ID or the rank table; with CM_* it is known when the processes have met, which this
    waits for."""
    rank = cluster.world()[1]
    return _met("get_rank_id") if rank == cluster.UNKNOWN else rank


def get_npu_local_rank_size():
    """How many of the processes are on this host; of several, they meet for it."""
    return _met("get_local_rank_size") if cluster.size() > 1 else 1


def get_npu_local_rank_id():
    """This process's rank among those on this host; of several, they meet for it."""
    return _met("get_local_rank_id") if cluster.size() > 1 else 0
