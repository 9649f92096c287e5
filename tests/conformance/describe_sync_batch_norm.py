# SPDX-License-Identifier: Apache-2.0
"""Cases of the pieces of batch normalisation over several ranks."""

import torch
from case import T, case

F32 = torch.float32
KINDS = [F32, torch.float16, torch.bfloat16]
EPS, MOMENTUM = 1e-3, 0.1


def along(x, values):
    """One number a channel, shaped to broadcast over x."""
    return 1 if values is None else values.reshape(1, -1, *[1] * (x.dim() - 2))


def rest(x):
    return [d for d in range(x.dim()) if d != 1]


def stats(self):
    return self.mean(rest(self)), (self.var(rest(self), unbiased=False) + EPS).rsqrt()


def elemt(self, weight, bias, mean, invstd):
    out = (self - along(self, mean)) * along(self, invstd) * along(self, weight)
    return out if bias is None else out + along(self, bias)


def reduce_gradient(grad_output, self, mean, invstd):
    products = (grad_output * (self - along(self, mean))).sum(rest(self))
    return grad_output.sum(rest(self)), products, products * invstd, grad_output.sum(rest(self))


def reduce_terms(grad_output, self, mean, invstd):
    return reduce_gradient(grad_output.abs(), self.abs(), -mean.abs(), invstd)


def elemt_gradient(grad_output, self, mean, invstd, weight, sum_dy, sum_dy_xmu, counts):
    total = counts.sum().double()
    slope = along(self, sum_dy_xmu * invstd.square() / total)
    centered = grad_output - along(self, sum_dy / total) - (self - along(self, mean)) * slope
    return centered * along(self, invstd) * along(self, weight)


for shape in [(6, 5), (4, 70, 9), (3, 6, 11, 13), (2, 3, 2, 3, 4)]:
    c = shape[1]
    x, g = T(*shape, low=-1, high=3), T(*shape)
    numbers = {"mean": T(c, low=0, high=1, dtype=F32), "invstd": T(c, low=0.5, high=2, dtype=F32)}
    wide = dict.fromkeys(
        ("mean", "invstd", "sum", "square_sum", "sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias"), F32
    )
    case("aclnnBatchNormStats", stats, KINDS, self=x, eps=EPS, out_dtypes=wide)
    case("aclnnBatchNormReduce", lambda self: (self.sum(rest(self)), self.square().sum(rest(self))), KINDS, self=x,
         out_dtypes=wide)  # fmt: skip
    for affine in (True, False):
        weight, bias = (T(c, dtype=F32), T(c, dtype=F32)) if affine else (None, None)
        case("aclnnBatchNormElemt", elemt, KINDS, self=x, weight=weight, bias=bias, eps=EPS, **numbers)
        case("aclnnBatchNormElemtBackward", elemt_gradient, KINDS, grad_output=g, self=x, weight=weight,
             sum_dy=T(c, dtype=F32), sum_dy_xmu=T(c, dtype=F32), **numbers,
             counts=T(2, values=lambda _: torch.tensor([7, 12]), dtype=torch.int32))  # fmt: skip
    case("aclnnBatchNormReduceBackward", reduce_gradient, KINDS, grad_output=g, self=x, weight=None, input_wanted=True,
         weight_wanted=True, bias_wanted=True, out_dtypes=wide, terms=reduce_terms, **numbers)  # fmt: skip
case("aclnnBatchNormReduceBackward", lambda self, grad_output: (None, None, None, grad_output.sum(0)), [F32],
     grad_output=T(6, 5), self=T(6, 5), mean=T(5), invstd=T(5), weight=None, input_wanted=False, weight_wanted=False,
     bias_wanted=True)  # fmt: skip

# Three ranks whose batches differ in size: joined statistics are those of all their samples together.
RANKS = [torch.randn(n, 5, generator=torch.Generator().manual_seed(n)).double() * 2 + 1 for n in (4, 9, 30)]
EVERYTHING = torch.cat(RANKS)
COUNTS = T(3, values=lambda _: torch.tensor([float(len(r)) for r in RANKS]), dtype=F32)


def given(function):
    return T(3, 5, values=lambda _: torch.stack([function(r) for r in RANKS]).float(), dtype=F32)


def joined(running_mean, running_var):
    mean, invstd = stats(EVERYTHING)
    if running_mean is None:
        return None, None, mean, invstd
    var = EVERYTHING.var(0)
    return torch.lerp(running_mean, mean, MOMENTUM), torch.lerp(running_var, var, MOMENTUM), mean, invstd


for running in (
    {"running_mean": T(5), "running_var": T(5, low=1, high=2)},
    dict.fromkeys(("running_mean", "running_var")),
):
    common = {"momentum": MOMENTUM, "eps": EPS, "counts": COUNTS, **running}
    layouts = ("plain", "transposed")
    case("aclnnBatchNormGatherStatsWithCounts", joined, [F32], self=T(4, 5), mean=given(lambda r: stats(r)[0]),
         invstd=given(lambda r: stats(r)[1]), layouts=layouts, **common)  # fmt: skip
    case("aclnnSyncBatchNormGatherStats", joined, [F32], sum=given(lambda r: r.sum(0)), layouts=layouts,
         square_sum=given(lambda r: r.square().sum(0)), **common)  # fmt: skip
