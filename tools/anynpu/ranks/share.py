# SPDX-License-Identifier: Apache-2.0
"""How the ranks of a host divide its cores."""

import os


def cores(count):
    """Those of each rank: its part of ours, or all of them where there are fewer cores than ranks."""
    ours = sorted(os.sched_getaffinity(0))
    if len(ours) < count:
        return [ours] * count
    return [ours[rank * len(ours) // count : (rank + 1) * len(ours) // count] for rank in range(count)]


def threads(count):
    """The variables that say how many threads a rank computes with; what is set already stays."""
    number = str(max(1, len(os.sched_getaffinity(0)) // count))
    return {name: os.environ.get(name, number) for name in ("ANYNPU_THREADS", "OMP_NUM_THREADS")}
