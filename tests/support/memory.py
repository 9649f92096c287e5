# SPDX-License-Identifier: Apache-2.0
"""What the process holds and what is allocated on its device, in bytes, and whether it stays so over many steps."""

import gc
import os

import numpy as np
from anynpu.library import door


def on_device():
    """Of this process; what is free depends on all that the machine does."""
    return sum(usage.used for usage in door.usages() if (usage.pid, usage.device) == (os.getpid(), 0))


def of_process():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def held():
    gc.collect()
    return np.array([of_process(), on_device()])


def assert_flat(name, step, warm, steps, live=lambda: ""):
    """Calls step(i) `warm` times, then `steps` times: memory may grow by 1 %, the device's by 64 kB more, and live(),
    which tells what else is there, stays as it is."""
    for i in range(warm):
        step(i)
    before, alive = held(), live()
    for i in range(warm, warm + steps):
        step(i)
    grown = held() - before
    print(f"\n{name}: {steps} steps, process {before[0]} + {grown[0]} bytes, device {before[1]} + {grown[1]}; {alive}")
    assert (grown <= 0.01 * before + [0, 1 << 16]).all()
    assert live() == alive
