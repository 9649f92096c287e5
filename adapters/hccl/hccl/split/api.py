# SPDX-License-Identifier: Apache-2.0
"""The vendor's functions on segments of gradients (guide to migration of TensorFlow scripts, chapter 11.2.3).

What they set stays with the name of the group and counts for functions that are compiled afterwards. Percentages of the
bytes win over numbers of gradients; without either the first segment has 96.54 % of the bytes. The log tells which
gradients came into which segment, by number ("segment result", INFO). ValueError for anything that makes no sense, and
where this process is not in the group.
"""

import ctypes

from hccl.manage import world
from hccl.manage.api import WORLD, _join, _name

MOST_SEGMENTS = 8


def _list(values, what, argument):
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_SEGMENTS:
        raise ValueError(f"{what}: {argument} is {values!r}; it is a list of 1 to {MOST_SEGMENTS} segments")
    return values


def _is_number(value, kinds):
    return isinstance(value, kinds) and not isinstance(value, bool)


def _set(what, function, group, values):
    name = _name(group, what)
    _join(what)
    wrong = world.call(function, name, len(values), values)
    if wrong is not None:
        raise ValueError(f"{what}: {wrong}")


def set_split_strategy_by_idx(idxList, group=WORLD):  # noqa: N803 (the vendor's name)
    """Segments by the number of the last gradient of each, from 0 on: [20, 100, 159] are 0 to 20, 21 to 100 and 101 to
    159."""
    what = "set split strategy by idx error"
    for value in _list(idxList, what, "idxList"):
        if not _is_number(value, int) or not 0 <= value < 2**32:
            raise ValueError(f"{what}: idxList has {value!r}; a gradient's number is a whole one, 0 or more")
    for a, b in zip(idxList, idxList[1:], strict=False):
        if b <= a:
            raise ValueError(f"{what}: idxList is {idxList!r}; the numbers ascend")
    _set(what, "anynpu_split_by_index", group, (ctypes.c_uint32 * len(idxList))(*idxList))


def set_split_strategy_by_size(dataSizeList, group=WORLD):  # noqa: N803 (the vendor's name)
    """Segments by percentages of the gradients' bytes: [60, 20, 20]."""
    what = "set split strategy by size error"
    for value in _list(dataSizeList, what, "dataSizeList"):
        if not _is_number(value, (int, float)) or not value >= 0:
            raise ValueError(f"{what}: dataSizeList has {value!r}; a percentage is a number, 0 or more")
    if not abs(sum(dataSizeList) - 100) <= 1e-6:
        raise ValueError(f"{what}: dataSizeList is {dataSizeList!r}, {sum(dataSizeList)} together; it must be 100")
    _set(what, "anynpu_split_by_size", group, (ctypes.c_double * len(dataSizeList))(*dataSizeList))
