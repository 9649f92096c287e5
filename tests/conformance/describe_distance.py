# SPDX-License-Identifier: Apache-2.0
"""Cases of distances between rows and their gradient."""

import torch
from case import T, case

KINDS = [torch.float32, torch.float16, torch.float64]
ORDERS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, -1.0)


def order(p):
    return float("inf") if p == -1 else p


def cdist(x1, x2, p):
    return torch.cdist(x1, x2, order(p), "donot_use_mm_for_euclid_dist")


def gradient(grad, x1, x2, p):
    x = x1.clone().requires_grad_()
    with torch.enable_grad():
        return torch.autograd.grad(cdist(x, x2, p), x, grad)[0]


for p in ORDERS:
    for a, b in [((4, 3), (5, 3)), ((2, 1, 6, 2), (3, 4, 2)), ((0, 3), (2, 3)), ((3, 1), (4, 1))]:
        case("aclnnCdist", cdist, KINDS, x1=T(*a), x2=T(*b), p=p, mode=0)
    for a, b in [((4, 3), (5, 3)), ((2, 6, 2), (2, 4, 2))]:
        # A distance is given, yet follows from the rows, and so is not checked against them.
        case("aclnnCdistBackward", gradient, KINDS, grad=T(*a[:-1], b[-2]), x1=T(*a), x2=T(*b), p=p,
             cdist=T(*a[:-1], b[-2], low=1))  # fmt: skip
    case("aclnnPdist", lambda self, p: torch.pdist(self.contiguous(), order(p)), KINDS, self=T(7, 4), p=p)
case("aclnnPdist", lambda self, p: torch.pdist(self.contiguous(), p), KINDS, self=T(1, 4), p=2.0)
case("aclnnPdist", lambda self, p: torch.pdist(self.contiguous(), p), KINDS, self=T(40, 4), p=float("inf"))
