# SPDX-License-Identifier: Apache-2.0
"""Cases of copies, casts and fills."""

import torch
from case import ALL, COMPLEX, T, case

EVERY = ALL + COMPLEX

case("aclnnInplaceCopy", lambda out, self: self.expand(out.shape), EVERY, out=T(3, 4, 5), self=T(4, 1))
case("aclnnInplaceCopy", lambda out, self: self.clone(), EVERY, out=T(3, 4), self=T(3, 4), elementwise=True)
case("aclnnCast", lambda self: self.real.clone(), EVERY, self=T(4, 5), dtype=torch.float32,
     out_dtypes={"out": torch.float32}, layouts=("plain", "transposed", "sliced"))  # fmt: skip
case("aclnnCast", lambda self: self.long(), ALL, self=T(4, 5, low=-9, high=9), dtype=torch.int32,
     out_dtypes={"out": torch.int32})  # fmt: skip
case("aclnnInplaceZero", lambda out: torch.zeros_like(out), EVERY, out=T(3, 4), elementwise=True)
case("aclnnInplaceOne", lambda out: torch.ones_like(out), EVERY, out=T(3, 4), elementwise=True)
case("aclnnInplaceFillScalar", lambda out: torch.full_like(out, 3), ALL, out=T(3, 4), self=3)
case("aclnnInplaceFillTensor", lambda out, self: torch.full_like(out, 1) * self, ALL, out=T(3, 4), self=T())
