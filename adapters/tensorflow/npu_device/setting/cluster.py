# SPDX-License-Identifier: Apache-2.0
"""The variables by which the vendor's launchers describe a training of several processes, and how these meet."""

import ctypes
import os

from npu_device.adapter import library

BY_TABLE = ("RANK_TABLE_FILE", "RANK_ID", "RANK_SIZE")
BY_CHIEF = ("CM_CHIEF_IP", "CM_CHIEF_PORT", "CM_CHIEF_DEVICE", "CM_WORKER_SIZE", "CM_WORKER_IP")
UNKNOWN = -1
WORLD = "hccl_world_group"


def _set(names):
    return [name for name in names if os.environ.get(name)]


def _in_table():
    """(size, rank) as the rank table has it; ValueError with the reason for one that is wrong."""
    [source] = library.members("anynpu_who_am_i")
    if source["problem"]:
        raise ValueError(source["problem"].decode())
    return source["size"], source["rank"]


def device_of_table():
    """The device that the rank table gives this process; 0 without a table, or where that is wrong."""
    return max(library.members("anynpu_who_am_i")[0]["device"], 0) if _set(("RANK_TABLE_FILE",)) else 0


def size():
    """Processes of the training, as the environment says; ValueError for what is no number above 0."""
    return world()[0]


def world():
    """(processes of the training, the rank of this one), as the environment says. With CM_* the ranks are known only
    when the processes have met, and this one's is UNKNOWN. ValueError for what makes no sense."""
    for name in _set(("RANK_SIZE", "CM_WORKER_SIZE")):
        text = os.environ[name]
        if not text.strip().isdecimal() or int(text) < 1:
            raise ValueError(f"{name} is {text!r}; it must be the number of processes, 1 or more")
        if not _set(("RANK_TABLE_FILE",)):
            return int(text), _rank(int(text))
    return _in_table() if _set(("RANK_TABLE_FILE",)) else (1, 0)


def _rank(size):
    text = os.environ.get("RANK_ID", "")
    if size == 1:
        return 0
    if not text:
        return UNKNOWN
    if not text.strip().isdecimal() or int(text) >= size:
        raise ValueError(f"RANK_ID is {text!r}; it must be the rank of this process, 0 to {size - 1}")
    return int(text)


def join(device):
    """Joins the ranks that the environment names, with this device; nothing where that was done, by hccl.manage.api
    too. All processes do so. RuntimeError says why they cannot meet."""
    core = library.load()
    if core.aclrtSetDevice(ctypes.c_int32(device)) != 0 or core.anynpu_world_join() != 0:
        raise RuntimeError(f"the {size()} processes cannot meet: {_text()}")


def place(group, device):
    """(ranks of a group, this process's rank in it), which have met then. ValueError for a group that is not there or
    that this process is not in."""
    join(device)
    return tuple(_number(function, group) for function in ("anynpu_group_size", "anynpu_group_rank"))


def _number(function, group):
    out = ctypes.c_uint32()
    if getattr(library.load(), function)(group.encode(), 0, ctypes.byref(out)) != 0:
        raise ValueError(_text())
    return out.value


def _text():
    return library.load().anynpu_recent_reason().decode(errors="replace")


def verify():
    """ValueError for two descriptions at once, and for one that makes no sense."""
    table, chief = _set(BY_TABLE), _set(BY_CHIEF)
    if table and chief:
        raise ValueError(
            f"{', '.join(table)} and {', '.join(chief)} describe the same cluster in two ways; unset one group"
        )
    size()
