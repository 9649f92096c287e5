# SPDX-License-Identifier: Apache-2.0
"""Cases of sorting and selection. Positions are checked by what stands there, since equal elements may be swapped."""

import math

import torch
from case import NUMERIC, REAL, T, case

PLAIN = T(6, 31)
WITH_NAN = T(6, 7, values=lambda g: torch.randn(6, 7, generator=g).masked_fill(torch.eye(6, 7) > 0, math.nan))
VALUES = {"out_dtypes": {"values": None}}


def _sorted(self, dim, descending):
    return torch.sort(self, dim=dim, descending=descending, stable=True)


for source, types in ((PLAIN, NUMERIC), (WITH_NAN, REAL)):
    for dim, descending in ((0, False), (-1, True)):
        case("aclnnSort", _sorted, types, self=source, stable=True, dim=dim, descending=descending, **VALUES)
        case("aclnnArgsort", lambda self, dim, descending: _sorted(self, dim, descending)[1], types, self=source,
             dim=dim, descending=descending)  # fmt: skip
        case("aclnnTopk", lambda self, dim, largest, k: tuple(t.narrow(dim, 0, k) for t in _sorted(self, dim, largest)),
             types, self=source, k=3, dim=dim, largest=descending, sorted=True, **VALUES)  # fmt: skip


def _at(self, dim, keepdim, position):
    """Value and position of the element at `position` (a tensor) of the stable order."""
    values, indices = torch.sort(self, dim=dim, stable=True)
    position = position.expand(values.select(dim, 0).unsqueeze(dim).shape)
    values, indices = values.gather(dim, position), indices.gather(dim, position)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _kth(self, k, dim, keepdim):
    return _at(self, dim, keepdim, torch.tensor(k - 1))


def _median(self, dim, keepdim):
    nans = self.isnan().sum(dim, keepdim=True)
    middle = (self.shape[dim] - 1) // 2
    return _at(self, dim, keepdim, torch.where(nans > 0, self.shape[dim] - nans, middle))


def _nanmedian(self, dim, keepdim):
    return _at(self, dim, keepdim, (self.shape[dim] - self.isnan().sum(dim, keepdim=True) - 1).clamp(min=0) // 2)


for source, types in ((PLAIN, NUMERIC), (WITH_NAN, REAL)):
    for dim, keepdim in ((0, False), (-1, True)):
        options = {"self": source, "dim": dim, "keepdim": keepdim, **VALUES}
        case("aclnnKthvalue", _kth, types, k=4, **options)
        case("aclnnMedianDim", _median, types, **options)
        case("aclnnNanMedianDim", _nanmedian, types, **options)
    case("aclnnMedian", lambda self: self.median(), types, self=source, out_dtypes={"out": None})
    case("aclnnNanMedian", lambda self: self.nanmedian(), types, self=source, out_dtypes={"out": None})
