# SPDX-License-Identifier: Apache-2.0
"""Cases of reductions and scans."""

import math

import torch
from case import ALL, BOOL, COMPLEX, NUMERIC, REAL, T, case

SAME = {"out_dtypes": {"out": None}}
WITH_NAN = T(6, 7, values=lambda g: torch.randn(6, 7, generator=g).masked_fill(torch.eye(6, 7) > 0, math.nan))
TIES = T(6, 7, values=lambda g: torch.randint(0, 3, (6, 7), generator=g))
EMPTY = ("plain",)

for dims, keep in (([1], False), ([0, 2], True), ([], False), ([-1], True)):
    options = {"dim": dims, "keepdim": keep}
    case("aclnnAmax", lambda self, dim, keepdim: self.amax(dim, keepdim), ALL, self=T(3, 40, 5), **options)
    case("aclnnAmin", lambda self, dim, keepdim: self.amin(dim, keepdim), ALL, self=T(3, 40, 5), **options)
    case("aclnnAminmax", lambda self, dim, keepdim: (self.amin(dim, keepdim), self.amax(dim, keepdim)), NUMERIC,
         self=T(3, 40, 5), **options)  # fmt: skip
    case("aclnnLogSumExp", lambda self, dim, keepdim: self.logsumexp(dim or (0, 1, 2), keepdim), REAL,
         self=T(3, 40, 5), **options)  # fmt: skip
    case("aclnnReduceNansum", lambda self, dim, keepdim: self.nansum(dim or None, keepdim), REAL, self=T(3, 40, 5),
         **options, dtype=lambda d: d)  # fmt: skip
    for correction in (0, 1, 2):
        wide = {"self": T(3, 40, 5, low=9, high=12), "correction": correction, **options}
        case("aclnnVarCorrection", lambda self, dim, correction, keepdim:
             self.var(dim, correction=correction, keepdim=keepdim), REAL, **wide)  # fmt: skip
        case("aclnnStd", lambda self, dim, correction, keepdim:
             self.std(dim, correction=correction, keepdim=keepdim), REAL, **wide)  # fmt: skip
        case("aclnnVarMean", lambda self, dim, correction, keepdim:
             torch.var_mean(self, dim, correction=correction, keepdim=keepdim), REAL, **wide)  # fmt: skip
        case("aclnnStdMeanCorrection", lambda self, dim, correction, keepdim:
             torch.std_mean(self, dim, correction=correction, keepdim=keepdim), REAL, **wide)  # fmt: skip
    for order in (0, 1, 2, 3.5, math.inf, -math.inf):
        case("aclnnLinalgVectorNorm", lambda self, ord, dim, keepdim:
             torch.linalg.vector_norm(self, ord, dim or None, keepdim), REAL + COMPLEX, self=T(3, 40, 5), ord=order,
             **options, dtype=lambda d: d if not d.is_complex else torch.float32)  # fmt: skip
        case("aclnnNorm", lambda self, ord, dim, keepdim: torch.linalg.vector_norm(self, ord, dim or None, keepdim),
             REAL, self=T(3, 40, 5), ord=order, **options)  # fmt: skip


def _logic(name, f):
    case(name, lambda self, dim, keepdim: f(self, dim[0], keepdim), ALL, self=T(6, 2), dim=[1], keepdim=True,
         out_dtypes={"out": torch.bool})  # fmt: skip
    case(name, lambda self: f(self), ALL, self=T(6, 2), dim=[], keepdim=False, out_dtypes={"out": torch.bool})
    case(name, lambda self: f(self), BOOL, self=T(0), dim=[0], keepdim=False)


_logic("aclnnAll", torch.all)
_logic("aclnnAny", torch.any)
case("aclnnAmax", lambda self, dim: self.amax(dim), REAL, self=WITH_NAN, dim=[0], keepdim=False)
case("aclnnAmin", lambda self, dim: self.amin(dim), REAL, self=WITH_NAN, dim=[0], keepdim=False)
case("aclnnReduceNansum", lambda self, dim: self.nansum(dim), REAL, self=WITH_NAN, dim=[0], keepdim=False,
     dtype=lambda d: d)  # fmt: skip
case("aclnnMax", lambda self: self.max(), ALL, self=T(5, 70))
case("aclnnMin", lambda self: self.min(), ALL, self=T(5, 70))
case("aclnnAminmaxAll", lambda self: self.aminmax(), NUMERIC, self=T(5, 70))
case("aclnnAminmaxDim", lambda self, dim, keepdim: self.aminmax(dim=dim, keepdim=keepdim), NUMERIC, self=T(5, 70),
     dim=0, keepdim=True)  # fmt: skip


def _first(self, dim, keepdim, largest):
    """Value and first position of the extreme, NaN before all; torch may give any of equal positions."""
    best = self.amax(dim, True) if largest else self.amin(dim, True)
    hit = torch.where(best.isnan(), self.isnan(), self == best)
    at = hit.to(torch.uint8).argmax(dim, keepdim)
    return (best if keepdim else best.squeeze(dim)), at


for self in (T(6, 7), TIES, WITH_NAN):
    for dim, keep in ((0, False), (-1, True)):
        types = REAL if self is WITH_NAN else NUMERIC
        case("aclnnMaxDim", lambda self, dim, keepdim: _first(self, dim, keepdim, True), types, self=self, dim=dim,
             keepdim=keep, **SAME)  # fmt: skip
        case("aclnnMinDim", lambda self, dim, keepdim: _first(self, dim, keepdim, False), types, self=self, dim=dim,
             keepdim=keep, **SAME)  # fmt: skip
        case("aclnnArgMax", lambda self, dim, keepdim: _first(self, dim, keepdim, True)[1], types, self=self, dim=dim,
             keepdim=keep)  # fmt: skip
        case("aclnnArgMin", lambda self, dim, keepdim: _first(self, dim, keepdim, False)[1], types, self=self, dim=dim,
             keepdim=keep)  # fmt: skip
        case("aclnnCummax", lambda self, dim: self.cummax(dim), types, self=self, dim=dim, out_dtypes={"values": None})
        case("aclnnCummin", lambda self, dim: self.cummin(dim), types, self=self, dim=dim, out_dtypes={"values": None})


def _cumsum(self, dim, exclusive, reverse):
    turned = self.flip(dim) if reverse else self
    sums = turned.cumsum(dim) - (turned if exclusive else 0)
    return sums.flip(dim) if reverse else sums


for dim in (0, -1):
    case("aclnnCumsum", lambda self, dim: self.cumsum(dim), NUMERIC + COMPLEX, self=T(5, 300), dim=dim,
         dtype=lambda d: d, **SAME)  # fmt: skip
    for exclusive in (False, True):
        for reverse in (False, True):
            case("aclnnCumsumV2", _cumsum, NUMERIC + COMPLEX, self=T(5, 30), dim=dim, exclusive=exclusive,
                 reverse=reverse, **SAME)  # fmt: skip
    case("aclnnCumprod", lambda self, dim: self.cumprod(dim), REAL, self=T(5, 9, low=0.5, high=1.5), dim=dim,
         dtype=lambda d: d)  # fmt: skip
