# SPDX-License-Identifier: Apache-2.0
"""The processes that train together, as collectives meet them. They join when the first of these is asked for, which
all processes do; hccl.manage.api and the functions here join once between them."""

import ctypes

from absl import logging

from npu_device import device
from npu_device.adapter import library
from npu_device.setting import cluster

WORLD = "hccl_world_group"


def alone(what):
    """Whether this process trains alone, which is logged: `what` is skipped then."""
    if cluster.size() > 1:
        return False
    # Not logging.info, which gives the root logger a handler: TensorFlow's lines would then come twice.
    logging.get_absl_logger().info("Skip %s as current process is not npu cluster worker", what)
    return True


def join():
    """Joins the ranks that the environment names, with the device that is open; nothing where that was done.
    RuntimeError says why they cannot meet."""
    core = library.load()
    if core.aclrtSetDevice(ctypes.c_int32(device.in_use())) != 0 or core.anynpu_world_join() != 0:
        raise RuntimeError(f"the {cluster.size()} processes cannot meet: {_text()}")


def place(group=WORLD):
    """(ranks of a group, this process's rank in it); the processes have met then. ValueError for a group that is not
    there or that this process is not in."""
    join()
    return tuple(_number(function, group) for function in ("anynpu_group_size", "anynpu_group_rank"))


def _number(function, group):
    out = ctypes.c_uint32()
    if getattr(library.load(), function)(group.encode(), 0, ctypes.byref(out)) != 0:
        raise ValueError(_text())
    return out.value


def _text():
    return library.load().anynpu_recent_reason().decode(errors="replace")
