# SPDX-License-Identifier: Apache-2.0
"""Which gradients are summed up together, see hccl.split.api; a process that trains alone sums up none."""

import importlib

from npu_device.distribute import ranks
from npu_device.setting import telling

MOST = 8


def _set(function, values, group):
    if ranks.alone(function):
        telling.once("split", "the split of gradients has no effect: one process has nothing to sum up with others")
    else:
        ranks.place()
        getattr(importlib.import_module("hccl.split.api"), function)(values, group)


def set_split_strategy_by_idx(idxList, group="hccl_world_group"):  # noqa: N803 (the vendor's name)
    """Segments of gradients, by the number of the last one in each. ValueError unless they ascend."""
    if not 0 < len(idxList) <= MOST or any(b <= a for a, b in zip(idxList, idxList[1:], strict=False)):
        raise ValueError(f"idxList is {idxList!r}; it is 1 to {MOST} numbers of gradients that ascend")
    _set("set_split_strategy_by_idx", idxList, group)


def set_split_strategy_by_size(dataSizeList, group="hccl_world_group"):  # noqa: N803 (the vendor's name)
    """Segments of gradients, by their shares of all bytes. ValueError unless they are 100 percent."""
    if not 0 < len(dataSizeList) <= MOST or abs(sum(dataSizeList) - 100) > 1e-6:
        raise ValueError(f"dataSizeList is {dataSizeList!r}; it is 1 to {MOST} percentages, 100 together")
    _set("set_split_strategy_by_size", dataSizeList, group)
