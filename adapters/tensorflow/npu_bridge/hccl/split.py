# SPDX-License-Identifier: Apache-2.0
"""Which gradients are summed up together. There is one process, which sums up none."""

from npu_device.setting import telling

MOST = 8


def _tell():
    telling.once("split", "the split of gradients has no effect: one process has nothing to sum up with others")


def set_split_strategy_by_idx(idxList, group="hccl_world_group"):  # noqa: N803 (the vendor's name)
    """Segments of gradients, by the number of the last one in each. ValueError unless they ascend."""
    if not 0 < len(idxList) <= MOST or any(b <= a for a, b in zip(idxList, idxList[1:], strict=False)):
        raise ValueError(f"idxList is {idxList!r}; it is 1 to {MOST} numbers of gradients that ascend")
    _tell()


def set_split_strategy_by_size(dataSizeList, group="hccl_world_group"):  # noqa: N803 (the vendor's name)
    """Segments of gradients, by their shares of all bytes. ValueError unless they are 100 percent."""
    if not 0 < len(dataSizeList) <= MOST or abs(sum(dataSizeList) - 100) > 1e-6:
        raise ValueError(f"dataSizeList is {dataSizeList!r}; it is 1 to {MOST} percentages, 100 together")
    _tell()
