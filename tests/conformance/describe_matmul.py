# SPDX-License-Identifier: Apache-2.0
"""Cases of matrix products (see case.py for the form). Sums over k cancel: small results carry the error of the large
terms."""

import functools

import torch
from case import INTEGER, REAL, T, case

KINDS = [*REAL, torch.int64, torch.int32, torch.complex64]

sums = functools.partial(case, terms="absolute")
for m, k, n in ((3, 4, 5), (1, 70, 1), (65, 130, 33), (4, 0, 3), (0, 4, 3), (300, 40, 500)):
    many = KINDS if m < 100 else REAL
    sums("aclnnMm", lambda self, mat2: self @ mat2, many, self=T(m, k), mat2=T(k, n))
    sums("aclnnAddmm", lambda self, mat1, mat2, beta, alpha: torch.addmm(self, mat1, mat2, beta=beta, alpha=alpha),
         many, self=T(n), mat1=T(m, k), mat2=T(k, n), beta=2, alpha=3)  # fmt: skip
    sums("aclnnInplaceAddmm",
         lambda self, mat1, mat2, beta, alpha: torch.addmm(self, mat1, mat2, beta=beta, alpha=alpha), REAL,
         self=T(m, n), mat1=T(m, k), mat2=T(k, n), beta=0.5, alpha=1.0)  # fmt: skip
sums("aclnnAddmm", lambda mat1, mat2: mat1 @ mat2, REAL, self=None, mat1=T(6, 7), mat2=T(7, 8), beta=1, alpha=1)
sums("aclnnMm", lambda self, mat2: self @ mat2, [torch.bfloat16, torch.float16], self=T(6, 70), mat2=T(70, 8),
     out_dtypes={"out": torch.float32})  # fmt: skip


def _gemm(self, mat1, mat2, alpha, beta, transpose1, transpose2):
    return alpha * (mat1.T if transpose1 else mat1) @ (mat2.T if transpose2 else mat2) + beta * self


for turn1 in (0, 1):
    for turn2 in (0, 3):
        sums("aclnnGemm", _gemm, REAL[:3], mat1=T(*((9, 6) if turn1 else (6, 9))),
             mat2=T(*((7, 9) if turn2 else (9, 7))), self=T(6, 7), alpha=2.0, beta=0.5, transpose1=turn1,
             transpose2=turn2)  # fmt: skip
sums("aclnnGemm", _gemm, REAL[:3], mat1=T(6, 9), mat2=T(9, 7), self=T(7), alpha=1.0, beta=1.0, transpose1=0,
     transpose2=0)  # fmt: skip

for a, b in (((5,), (5,)), ((5,), (5, 3)), ((4, 5), (5,)), ((2, 3, 4, 5), (5, 6)), ((4, 5), (2, 5, 3)),
             ((3, 1, 4, 5), (2, 5, 6)), ((2, 8, 40), (2, 40, 8)), ((0, 4, 5), (5, 6))):  # fmt: skip
    sums("aclnnMatmul", lambda self, mat2: torch.matmul(self, mat2), REAL, self=T(*a), mat2=T(*b))

for b, m, k, n in ((5, 8, 16, 16), (2, 70, 30, 90), (3, 4, 0, 2)):
    sums("aclnnBatchMatMul", lambda self, mat2: torch.bmm(self, mat2), KINDS, self=T(b, m, k), mat2=T(b, k, n))
    batches = {"batch1": T(b, m, k), "batch2": T(b, k, n), "beta": 0.5, "alpha": 2.0}
    sums("aclnnBaddbmm", lambda self, batch1, batch2, beta, alpha: torch.baddbmm(self, batch1, batch2, beta=beta,
         alpha=alpha), REAL, self=T(b, m, n), **batches)  # fmt: skip
    sums("aclnnAddbmm", lambda self, batch1, batch2, beta, alpha: torch.addbmm(self, batch1, batch2, beta=beta,
         alpha=alpha), REAL, self=T(m, n), **batches)  # fmt: skip

for m, k in ((5, 7), (300, 70), (3, 0)):
    sums("aclnnMv", lambda self, vec: self @ vec, REAL + INTEGER[:2], self=T(m, k), vec=T(k))
    sums("aclnnAddmv", lambda self, mat, vec, alpha, beta: torch.addmv(self, mat, vec, alpha=alpha, beta=beta), REAL,
         self=T(m), mat=T(m, k), vec=T(k), alpha=2.0, beta=0.5)  # fmt: skip
    sums("aclnnAddr", lambda self, vec1, vec2, beta, alpha: torch.addr(self, vec1, vec2, beta=beta, alpha=alpha), REAL,
         self=T(m, k), vec1=T(m), vec2=T(k), beta=2.0, alpha=0.5)  # fmt: skip
    sums("aclnnInplaceAddr", lambda self, vec1, vec2, beta, alpha: torch.addr(self, vec1, vec2, beta=beta, alpha=alpha),
         REAL, self=T(m, k), vec1=T(m), vec2=T(k), beta=1.0, alpha=1.0)  # fmt: skip
for k in (0, 1, 50, 30000):
    sums("aclnnDot", lambda self, other: torch.dot(self, other), REAL + INTEGER[:2], self=T(k), other=T(k))

# Weights in blocks: whole ones and their transposes, with sizes that fill blocks and sizes that do not.
NZ = [torch.float32, torch.float16, torch.bfloat16]
whole = functools.partial(sums, layouts=("plain", "transposed"))
for m, k, n in ((3, 4, 5), (65, 130, 33), (16, 32, 64), (4, 0, 3)):
    whole("aclnnMatmulWeightNz", lambda self, mat2: self @ mat2, NZ, self=T(m, k), mat2=T(k, n))
    whole("aclnnAddmmWeightNz", lambda self, mat1, mat2, beta, alpha: torch.addmm(self, mat1, mat2, beta=beta,
          alpha=alpha), NZ, self=T(n), mat1=T(m, k), mat2=T(k, n), beta=2, alpha=3)  # fmt: skip
    whole("aclnnBatchMatMulWeightNz", lambda self, mat2: torch.bmm(self, mat2), NZ, self=T(3, m, k), mat2=T(3, k, n))
whole("aclnnMatmulWeightNz", lambda self, mat2: self @ mat2, NZ, self=T(2, 3, 40), mat2=T(40, 21))
