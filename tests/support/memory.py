# SPDX-License-Identifier: Apache-2.0
"""What the process holds and what is allocated on its device, in bytes, and whether it stays so over many steps."""

import ctypes
import gc
import os

import numpy as np

HBM = 1


def on_device(acl):
    assert acl.aclrtSetDevice(0) == 0
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    assert acl.aclrtGetMemInfo(HBM, ctypes.byref(free), ctypes.byref(total)) == 0
    return total.value - free.value


def of_process():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def held(acl):
    gc.collect()
    return np.array([of_process(), on_device(acl)])


def assert_flat(acl, name, step, warm, steps, live=lambda: ""):
    """Calls step(i) `warm` times, then `steps` times: memory may grow by 1 %, the device's by 64 kB more, and live(),
    which tells what else is there, stays as it is."""
    for i in range(warm):
        step(i)
    before, alive = held(acl), live()
    for i in range(warm, warm + steps):
        step(i)
    grown = held(acl) - before
    print(f"\n{name}: {steps} steps, process {before[0]} + {grown[0]} bytes, device {before[1]} + {grown[1]}; {alive}")
    assert (grown <= 0.01 * before + [0, 1 << 16]).all()
    assert live() == alive
