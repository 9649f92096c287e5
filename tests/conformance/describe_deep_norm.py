# SPDX-License-Identifier: Apache-2.0
"""Cases of DeepNorm and of softmax under a mask, with their gradients."""

import torch
import torch.nn.functional as F
from case import T, case

KINDS = [torch.float32, torch.float16, torch.bfloat16]
F32, ALPHA, EPS = torch.float32, 0.7, 1e-3


def deep_norm(x, gx, beta, gamma):
    total = ALPHA * x + gx
    axes = list(range(-gamma.dim(), 0))
    rstd = (total.var(axes, unbiased=False, keepdim=True) + EPS).rsqrt()
    return total.mean(axes, keepdim=True), rstd, F.layer_norm(total, gamma.shape, gamma, beta, EPS)


def deep_norm_gradient(grad, x, gx, gamma, mean, rstd):
    # The formula itself: mean and rstd are arguments, so they do not have to be those of the sum.
    axes = list(range(-gamma.dim(), 0))
    unit, weighted = (ALPHA * x + gx - mean) * rstd, grad * gamma
    dgx = rstd * (weighted - weighted.mean(axes, keepdim=True) - unit * (weighted * unit).mean(axes, keepdim=True))
    rows = list(range(x.dim() - gamma.dim()))
    return ALPHA * dgx, dgx, grad.sum(rows), (grad * unit).sum(rows)


for shape, axes in [((6, 5), 1), ((3, 4, 70), 1), ((200, 3, 7), 2)]:
    row, statistics = shape[-axes:], (*shape[:-axes], *(1,) * axes)
    common = {"x": T(*shape), "gx": T(*shape), "gamma": T(*row), "alpha": ALPHA, "dtypes": KINDS}
    case("aclnnDeepNorm", deep_norm, beta=T(*row), eps=EPS, out_dtypes={"mean": F32, "rstd": F32}, **common)
    case("aclnnDeepNormGrad", deep_norm_gradient, grad=T(*shape), mean=T(*statistics, low=0, high=1, dtype=F32),
         rstd=T(*statistics, low=0.5, high=2, dtype=F32),
         out_dtypes={"grad_beta": F32, "grad_gamma": F32}, **common)  # fmt: skip


def masked_softmax(self, mask, scale):
    return (self * scale if mask is None else (self * scale).masked_fill(mask, -torch.inf)).softmax(-1)


def masked_softmax_gradient(grad, result, scale):
    return scale * result * (grad - (grad * result).sum(-1, keepdim=True))


for shape, mask in [((2, 3, 4, 8), (2, 1, 4, 8)), ((2, 3, 4, 8), (4, 8)), ((5, 33), None)]:
    hidden = None if mask is None else T(*mask, dtype=torch.bool)
    case("aclnnScaledMaskedSoftmax", masked_softmax, KINDS, self=T(*shape), mask=hidden, scale=0.3,
         fixed_triu_mask=False)  # fmt: skip
    case("aclnnScaledMaskedSoftmaxBackward", masked_softmax_gradient, KINDS, grad=T(*shape), mask=hidden,
         result=T(*shape, low=0, high=1), scale=0.3, fixed_triu_mask=False)  # fmt: skip
