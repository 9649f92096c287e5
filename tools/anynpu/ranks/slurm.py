# SPDX-License-Identifier: Apache-2.0
"""Ranks that srun starts, `srun -n 8 anynpu run train.py`: torch's variables from Slurm's."""

import re

from anynpu.ranks import hosts

FIRST_PORT, PORTS = 15000, 15000  # below those that the system gives out


def tasks_of(node, text):
    """How many tasks the node of that number has, by "2(x3),1"."""
    counts = []
    for count, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", text):
        counts += [count] * int(times or 1)
    return counts[node]


def variables(environment):
    """What torchrun would set, where srun has started several processes and nothing else says which of them this is."""
    taken = ("RANK", "WORLD_SIZE", "RANK_TABLE_FILE", "CM_CHIEF_IP")
    size = environment.get("SLURM_NTASKS", "")
    if "SLURM_PROCID" not in environment or size in ("", "1") or any(environment.get(name) for name in taken):
        return {}
    nodes = environment.get("SLURM_STEP_NODELIST") or environment.get("SLURM_JOB_NODELIST")
    if not nodes and not environment.get("MASTER_ADDR"):
        raise ValueError("SLURM_PROCID is set, but SLURM_JOB_NODELIST is not; set MASTER_ADDR, or start this with srun")
    steps = [int(environment.get(name) or 0) for name in ("SLURM_JOB_ID", "SLURM_STEP_ID")]
    out = {
        "RANK": environment["SLURM_PROCID"],
        "WORLD_SIZE": size,
        "LOCAL_RANK": environment.get("SLURM_LOCALID", "0"),
        "MASTER_ADDR": environment.get("MASTER_ADDR") or hosts.names(nodes)[0],
        # All ranks come to it on their own, and two steps to two.
        "MASTER_PORT": environment.get("MASTER_PORT") or str(FIRST_PORT + sum(steps) % PORTS),
    }
    tasks = environment.get("SLURM_STEP_TASKS_PER_NODE") or environment.get("SLURM_TASKS_PER_NODE")
    if tasks:
        out["LOCAL_WORLD_SIZE"] = tasks_of(int(environment.get("SLURM_NODEID", "0")), tasks)
    return out
