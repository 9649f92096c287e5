# SPDX-License-Identifier: Apache-2.0
"""Cases of group normalisation."""

import torch
import torch.nn.functional as F
from case import T, case

HALF = [torch.float32, torch.float16, torch.bfloat16]
N, C, G, EPS = 3, 6, 2, 1e-3
STATISTICS = {"mean": torch.float32, "rstd": torch.float32}


def statistics(x):
    rows = x.reshape(N, G, -1)
    return rows.mean(-1), (rows.var(-1, unbiased=False) + EPS).rsqrt()


def forward(silu):
    def oracle(self, weight, bias):
        out = F.group_norm(self, G, weight, bias, EPS)
        return (F.silu(out) if silu else out), *statistics(self)

    return oracle


for shape in ((N, C, 5, 7), (N, C)):
    plane = torch.Size(shape[2:]).numel()
    sizes = {"N": N, "C": C, "HxW": plane}
    case("aclnnGroupNorm", forward(False), HALF, self=T(*shape), weight=T(C), bias=T(C), group=G, eps=EPS, tolerance=5,
         out_dtypes=STATISTICS, **sizes)  # fmt: skip
    case("aclnnGroupNorm", lambda self: (F.group_norm(self, G, eps=EPS), *statistics(self)), HALF, self=T(*shape),
         weight=None, bias=None, group=G, eps=EPS, tolerance=5, out_dtypes=STATISTICS, **sizes)  # fmt: skip
    case("aclnnGroupNormSilu", forward(True), HALF, self=T(*shape), weight=T(C), bias=T(C), group=G, eps=EPS,
         tolerance=5, out_dtypes=STATISTICS)  # fmt: skip

# Backward gets the statistics of its input, so the input is the same in every run (and exact in every dtype).
X = (torch.rand(N, C, 5, 7, generator=torch.Generator().manual_seed(1)) * 4 - 2).bfloat16().float()
MEAN, RSTD = statistics(X.double())


def backward(grad_output, weight):
    leaves = [X.double().requires_grad_(), weight.detach().requires_grad_(), torch.zeros(C).double().requires_grad_()]
    return torch.autograd.grad(F.group_norm(leaves[0], G, leaves[1], leaves[2], EPS), leaves, grad_output)


case("aclnnGroupNormBackward", backward, HALF, layouts=("plain", "transposed"), tolerance=10,
     grad_output=T(N, C, 5, 7), self=T(values=lambda _: X), mean=T(values=lambda _: MEAN.float(), dtype=torch.float32),
     rstd=T(values=lambda _: RSTD.float(), dtype=torch.float32), weight=T(C), N=N, C=C, HxW=35, group=G,
     output_mask=[True, True, True])  # fmt: skip
