# SPDX-License-Identifier: Apache-2.0
"""The vendor's loop size: how many steps its graphs run before they come back to the host. Here every loop runs to its
own end; a loop with another number of steps is told in the log, for on a card it would hang or train on wrong data."""

import operator
import os

from npu_device.adapter import library


def checked(size, source):
    """A loop size; ValueError for what is none."""
    try:
        number = int(size) if isinstance(size, str) else operator.index(size)
    except (TypeError, ValueError):
        number = 0
    if number <= 0:
        raise ValueError(f"Npu loop size must be greater than 0, got {size} ({source})")
    return number


_told = bool(os.environ.get("NPU_LOOP_SIZE"))
_size = checked(os.environ.get("NPU_LOOP_SIZE") or "1", "NPU_LOOP_SIZE")


def tell_size():
    """The log shows the number with every run of a graph."""
    library.load().anynpu_tensorflow_loop_size(_size, _told)


def set_npu_loop_size(loop_size):
    """ValueError unless `loop_size` is a whole number above 0."""
    global _size, _told
    _told = True
    _size = checked(loop_size, "set_npu_loop_size")
    library.log(f"Npu loop size is set to {_size}, it will take effect in the next training loop")
    tell_size()
