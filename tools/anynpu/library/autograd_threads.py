# SPDX-License-Identifier: Apache-2.0
"""Lets the threads of PyTorch's autograd come to rest before the interpreter ends. After loss.backward() has returned,
the thread of a device still frees what belonged to the pass, and needs the interpreter where Python knew of it: a
dispatch mode, the last reference to a tensor. An interpreter that ends meanwhile ends such a thread too, inside a
destructor, which takes the whole process along ("terminate called without an active exception"). Beside a software
device those threads wait for a processor more often than beside a card."""

import time
from pathlib import Path

TASKS = Path("/proc/self/task")
NAME = "pt_autograd_"
LONGEST = 5.0  # seconds; a pass that a daemon thread still runs may never end
PAUSE = 0.006  # seconds: longer than Python's switch interval, so that a thread waiting for the interpreter gets it
LOOKS = 3


def threads():
    for task in TASKS.iterdir():
        try:
            if (task / "comm").read_text().startswith(NAME):
                yield task
        except OSError:  # it has ended
            continue


def rests(task):
    """Asleep: it waits for work, or for the interpreter, which it gets in the next pause."""
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0] == "S"
    except OSError:
        return True


def wait():
    found = list(threads())
    end = time.monotonic() + LONGEST
    looks = 0
    while found and looks < LOOKS and time.monotonic() < end:
        time.sleep(PAUSE)
        looks = looks + 1 if all(map(rests, found)) else 0
