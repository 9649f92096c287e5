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
    case("aclnnGroupNorm", forward(False), HALF, self=T(*shape), weight=T(C), bias=T(C), group=G, eps=EPS,
         out_dtypes=STATISTICS, **sizes)  # fmt: skip
    case("aclnnGroupNorm", lambda self: (F.group_norm(self, G, eps=EPS), *statistics(self)), HALF, self=T(*shape),
         weight=None, bias=None, group=G, eps=EPS, out_dtypes=STATISTICS, **sizes)  # fmt: skip
    case("aclnnGroupNormSilu", forward(True), HALF, self=T(*shape), weight=T(C), bias=T(C), group=G, eps=EPS,
         out_dtypes=STATISTICS)  # fmt: skip

# Backward gets the statistics of its input, so the input is the same in every run (and exact in every dtype).
X = (torch.rand(N, C, 5, 7, generator=torch.Generator().manual_seed(1)) * 4 - 2).bfloat16().float()
MEAN, RSTD = statistics(X.double())


def backward(grad_output, weight):
    leaves = [X.double().requires_grad_(), weight.detach().requires_grad_(), torch.zeros(C).double().requires_grad_()]
    return torch.autograd.grad(F.group_norm(leaves[0], G, leaves[1], leaves[2], EPS), leaves, grad_output)


case("aclnnGroupNormBackward", backward, HALF, layouts=("plain", "transposed"),
     grad_output=T(N, C, 5, 7), self=T(values=lambda _: X), mean=T(values=lambda _: MEAN.float(), dtype=torch.float32),
     rstd=T(values=lambda _: RSTD.float(), dtype=torch.float32), weight=T(C), N=N, C=C, HxW=35, group=G,
     output_mask=[True, True, True])  # fmt: skip


def swish(scale, active):
    def oracle(self, weight, bias):
        out = F.group_norm(self, G, weight, bias, EPS)
        return (out * torch.sigmoid(scale * out) if active else out), *statistics(self)

    return oracle


def swish_gradient(grad_output, weight, bias, swish_scale):
    leaves = [X.double().requires_grad_(), weight.detach().requires_grad_(), bias.detach().requires_grad_()]
    with torch.enable_grad():
        out = F.group_norm(leaves[0], G, leaves[1], leaves[2], EPS)
        return torch.autograd.grad(out * torch.sigmoid(swish_scale * out), leaves, grad_output)


for scale, active in ((1.0, True), (1.7, True), (1.0, False)):
    case("aclnnGroupNormSwish", swish(scale, active), HALF, self=T(N, C, 5, 7), weight=T(C), bias=T(C), group=G,
         eps=EPS, data_format="NCHW", silu=active, swish_scale=scale, out_dtypes=STATISTICS)  # fmt: skip
for scale in (1.0, 1.7):
    case("aclnnGroupNormSwishGrad", swish_gradient, HALF, layouts=("plain", "transposed"),
         grad_output=T(N, C, 5, 7), self=T(values=lambda _: X), weight=T(C), bias=T(C), group=G, data_format="NCHW",
         mean=T(values=lambda _: MEAN.float(), dtype=torch.float32), swish_scale=scale, weight_wanted=True,
         rstd=T(values=lambda _: RSTD.float(), dtype=torch.float32), bias_wanted=True)  # fmt: skip
