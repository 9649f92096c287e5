# SPDX-License-Identifier: Apache-2.0
"""Cases of unique, searching, counting, embedding bags, renorm and windows as columns."""

import torch
import torch.nn.functional as F
from case import ALL, INTEGER, NUMERIC, REAL, T, case

PLAIN = {"layouts": ("plain",)}
INDEX = {"dtype": torch.int64}


def whole(*shape, high=4, dtype=None):
    return T(1, values=lambda g: torch.randint(0, high, shape, generator=g).to(dtype or torch.int64), dtype=dtype)


def fixed(*values, dtype=torch.int64):
    return T(1, values=lambda g: torch.tensor(values, dtype=dtype), dtype=dtype)


UNIQUE = {"out_shapes": {"y": (60,), "inverse": (4, 5, 3), "counts": (60,)}, "out_dtypes": {"y": None}, **PLAIN}
FLAGS = {"sorted": True, "return_inverse": True, "return_counts": True}
case("aclnnUnique", lambda self: torch.unique(self, return_inverse=True), ALL, self=whole(4, 5, 3), **FLAGS, **UNIQUE)
case("aclnnUnique2", lambda self: torch.unique(self, return_inverse=True, return_counts=True), ALL,
     self=whole(4, 5, 3), **FLAGS, **UNIQUE)  # fmt: skip
case("aclnnUniqueConsecutive", lambda self: torch.unique_consecutive(self, return_inverse=True, return_counts=True),
     ALL, self=whole(4, 5, 3, high=2), dim=1000, **FLAGS, **UNIQUE)  # fmt: skip
for dim in (0, 1):
    options = {"self": whole(6, 6, 2, high=2), "dim": dim, **FLAGS, **PLAIN, "out_dtypes": {"y": None},
               "out_shapes": {"y": (6, 6, 2), "inverse": (6,), "counts": (6,)}}  # fmt: skip
    case("aclnnUniqueDim", lambda self, dim: torch.unique(self, dim=dim, return_inverse=True, return_counts=True),
         NUMERIC, **options)  # fmt: skip
    case("aclnnUniqueConsecutive", lambda self, dim: torch.unique_consecutive(self, dim=dim, return_inverse=True,
                                                                              return_counts=True),
         NUMERIC, **options)  # fmt: skip

SORTED = T(9, values=lambda g: torch.randint(-9, 9, (9,), generator=g).sort().values)
ROWS = T(3, 9, values=lambda g: torch.randint(-9, 9, (3, 9), generator=g).sort(-1).values)
SIGNED = [t for t in NUMERIC if t != torch.uint8]
for right in (False, True):
    case("aclnnBucketize", lambda self, sequence, right: torch.bucketize(self, sequence.contiguous(), right=right),
         SIGNED, self=T(4, 5, low=-10, high=10), sequence=SORTED, out_int32=False, right=right)  # fmt: skip
    case("aclnnBucketize", lambda self, sequence, right: torch.bucketize(self, sequence, right=right, out_int32=True),
         REAL, self=T(4, 5, low=-10, high=10), sequence=SORTED, out_int32=True, right=right, **PLAIN)  # fmt: skip
    case("aclnnSearchSorted", lambda sequence, self, right:
         torch.searchsorted(sequence.contiguous(), self.contiguous(), right=right), SIGNED, sequence=ROWS,
         self=T(3, 4, low=-10, high=10), out_int32=False, right=right, sorter=None)  # fmt: skip
    case("aclnnSearchSorteds", lambda sequence, self, right: torch.searchsorted(sequence, self, right=right), SIGNED,
         sequence=SORTED, self=2, out_int32=False, right=right, sorter=None, **PLAIN)  # fmt: skip
case("aclnnSearchSorted", lambda sequence, self, sorter: torch.searchsorted(sequence, self, sorter=sorter), REAL,
     sequence=fixed(3.0, 1.0, 2.0, dtype=torch.float32), self=T(6, low=0, high=4), out_int32=False, right=False,
     sorter=fixed(1, 2, 0), **PLAIN)  # fmt: skip

for invert in (False, True):
    case("aclnnIsInScalarTensor", lambda elements, tests, invert: torch.isin(elements, tests, invert=invert), NUMERIC,
         elements=2, tests=whole(4, 3), assume_unique=False, invert=invert)  # fmt: skip
    case("aclnnIsInTensorScalar", lambda elements, tests, invert: torch.isin(elements, tests, invert=invert), NUMERIC,
         elements=whole(4, 3), tests=2, assume_unique=False, invert=invert)  # fmt: skip
case("aclnnEqual", lambda self, other: torch.tensor(torch.equal(self, other)), ALL, self=T(4, 5), other=T(4, 5))
case("aclnnEqual", lambda self, other: torch.tensor(torch.equal(self, other)), ALL, self=fixed(1, 2),
     other=fixed(1, 2))  # fmt: skip
case("aclnnTrace", lambda self: self.trace(), NUMERIC, self=T(4, 6), out_dtypes={"out": None})

case("aclnnBincount", lambda self, minlength: torch.bincount(self.long(), minlength=minlength), INTEGER,
     self=whole(50, high=6), weight=None, minlength=8)  # fmt: skip
case("aclnnBincount", lambda self, weight, minlength: torch.bincount(self, weight, minlength), REAL,
     self=whole(50, high=6, dtype=torch.int64), weight=T(50), minlength=8)  # fmt: skip
case("aclnnHistc", lambda self, bins: torch.histc(self, bins, -1, 1), REAL, self=T(30, 40), bins=7, min=-1, max=1)
case("aclnnHistc", lambda self, bins: torch.histc(self.flatten(), bins), REAL, self=T(30, 40), bins=5, min=0, max=0)

OFFSETS = fixed(0, 3, 3, 7)
for mode in (0, 1, 2):
    for last, padding in ((False, -1), (True, 2)):
        bags = 3 if last else 4

        def bag(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx):
            got = torch.embedding_bag(weight, indices, offsets, False, mode, False, per_sample_weights,
                                      include_last_offset, padding_idx if padding_idx >= 0 else None)  # fmt: skip
            return got[0], None, None, None

        for weights in (None, T(7)) if mode == 0 else (None,):
            case("aclnnEmbeddingBag", bag, REAL, weight=T(6, 5), indices=whole(7, high=6, **INDEX), offsets=OFFSETS,
                 scale_grad_by_freq=False, mode=mode, sparse=False, per_sample_weights=weights,
                 include_last_offset=last, padding_idx=padding, layouts=("plain", "transposed"),
                 out_shapes={"offset2bag": (7,), "bag_size": (bags,), "max_indices": (bags,)},
                 out_dtypes=dict.fromkeys(("offset2bag", "bag_size", "max_indices"), torch.int64))  # fmt: skip

for p, dim in ((2, 0), (1, 1), (3.0, -1)):
    case("aclnnRenorm", lambda self, p, dim, maxnorm: torch.renorm(self, p, dim, maxnorm), REAL, self=T(3, 4, 5), p=p,
         dim=dim, maxnorm=2.5)  # fmt: skip
    case("aclnnInplaceRenorm", lambda self, p, dim, maxnorm: torch.renorm(self, p, dim, maxnorm), REAL,
         self=T(3, 4, 5), p=p, dim=dim, maxnorm=2.5)  # fmt: skip


def counted(self, dim, maxnorm):
    """p = 0, which torch's CPU refuses: what is not zero is counted."""
    count = (self != 0).double().sum([d for d in range(3) if d != dim % 3], keepdim=True)
    return torch.where(count > maxnorm, self * (maxnorm / (count + 1e-7)), self)


for dim in (0, 2):
    SPARSE = T(3, 4, 5, values=lambda g: torch.randn(3, 4, 5, generator=g) * (torch.rand(3, 4, 5, generator=g) > 0.8))
    for name in ("aclnnRenorm", "aclnnInplaceRenorm"):
        case(name, counted, REAL, self=SPARSE, p=0, dim=dim, maxnorm=2.5, layouts=("plain", "transposed", "sliced"))

WINDOWS = {"kernel_size": [3, 2], "dilation": [1, 2], "padding": [1, 0], "stride": [2, 1]}


def _im2col(self, kernel_size, dilation, padding, stride):
    return F.unfold(self, kernel_size, dilation, padding, stride)


def _col2im(self, output_size, kernel_size, dilation, padding, stride):
    return F.fold(self, output_size, kernel_size, dilation, padding, stride)


for batch in ((2,), ()):
    case("aclnnIm2col", _im2col, REAL, self=T(*batch, 3, 7, 6), **WINDOWS)
    case("aclnnIm2colBackward", _col2im, REAL, self=T(*batch, 18, 16), output_size=[7, 6], **WINDOWS)
