# SPDX-License-Identifier: Apache-2.0
"""Ranks of a job and groups of them: see hccl.manage.api, whose first call joins the ranks by itself."""

from hccl.manage import world


def init(device=None):
    """Joins the ranks that the environment names (rank table, CM_*, torchrun, mpirun, srun) with this NPU; without a
    number the one of this thread, else ASCEND_DEVICE_ID, else LOCAL_RANK, else 0. RuntimeError says what is wrong."""
    world.join(device)


def finalize():
    """Leaves all groups."""
    world.leave()
