# SPDX-License-Identifier: Apache-2.0
"""Cases of sums, means and products."""

import torch
from case import COMPLEX, NUMERIC, REAL, T, case

SAME = {"out_dtypes": {"out": None}}

for dims, keep in (([1], False), ([0, 2], True), ([], False), ([-1], True)):
    case("aclnnReduceSum", lambda self, dim, keepdim: self.sum(dim, keepdim), NUMERIC + COMPLEX, self=T(3, 40, 5),
         dim=dims, keepdim=keep, dtype=lambda d: d, **SAME)  # fmt: skip
    case("aclnnMean", lambda self, dim, keepdim: self.mean(dim, keepdim), REAL, self=T(3, 40, 5), dim=dims,
         keepdim=keep, dtype=lambda d: d)  # fmt: skip
case("aclnnReduceSum", lambda self, dim: self.sum(dim), NUMERIC, self=T(0, 4), dim=[0], keepdim=False,
     dtype=lambda d: d, **SAME)  # fmt: skip
case("aclnnProd", lambda self: self.prod(), REAL, self=T(3, 4, low=0.5, high=1.5), dtype=lambda d: d)
case("aclnnProd", lambda self: self.prod(), [torch.int64], self=T(3, 4), dtype=torch.int64)
case("aclnnProdDim", lambda self, dim, keepdim: self.prod(dim, keepdim), REAL, self=T(3, 4, 5), dim=1, keepdim=True,
     dtype=lambda d: d)  # fmt: skip
