# SPDX-License-Identifier: Apache-2.0
"""Cases of functions whose result's size depends on the data."""

import torch
from case import ALL, COMPLEX, T, case

SOME = T(4, 5, 3, low=-1, high=1)
EVERY = ALL + COMPLEX


def mask(*shape):
    return T(1, values=lambda g: torch.randint(0, 2, shape, generator=g).bool(), dtype=torch.bool)


case("aclnnNonzero", lambda self: self.nonzero(), ALL, self=SOME, out_shapes={"out": (60, 3)}, layouts=("plain",))
case("aclnnNonzero", lambda self: self.nonzero(), ALL, self=T(0, 3), out_shapes={"out": (0, 2)}, layouts=("plain",))
case("aclnnNonzeroV2", lambda self: self.nonzero().t(), ALL, self=SOME, out_shapes={"out": (3, 60)},
     layouts=("plain",))  # fmt: skip
SELECT = {"out_shapes": {"out": (60,)}, "out_dtypes": {"out": None}, "layouts": ("plain",)}
case("aclnnMaskedSelect", lambda self, mask: self.masked_select(mask), EVERY, self=SOME, mask=mask(4, 5, 3), **SELECT)
case("aclnnMaskedSelect", lambda self, mask: self.masked_select(mask), EVERY, self=T(5, 1), mask=mask(4, 5, 3),
     **SELECT)  # fmt: skip
case("aclnnInplaceMaskedScatter", lambda self, mask, source: self.masked_scatter(mask, source), EVERY, self=SOME,
     mask=mask(5, 3), source=T(70), out_dtypes={"self": None}, layouts=("plain", "transposed"))  # fmt: skip
