# SPDX-License-Identifier: Apache-2.0
"""Cases of attention between the edges of a graph, by the formulas of npu_fused_floyd_attention; gradients by torch's
autograd. Backward takes what forward gave, so its statistics are made by the oracle's own forward."""

import torch
from case import T, case

HALF = [torch.float32, torch.float16, torch.bfloat16]
STRIDED = ("plain", "sliced")
B, H, SCALE = 2, 2, 0.35
F32 = torch.float32


def scores(query, key1, key2, atten_mask, scale):
    s = torch.einsum("bhikc,bhijc->bhikj", query, key1) + torch.einsum("bhikc,bhjkc->bhikj", query, key2)
    return (s if atten_mask is None else s - 4e9 * atten_mask.double()) * scale


def forward(query, key1, value1, key2, value2, atten_mask, scale):
    s = scores(query, key1, key2, atten_mask, scale)
    top = s.amax(-1, keepdim=True)
    total = (s - top).exp().sum(-1, keepdim=True)
    p = s.softmax(-1)
    out = torch.einsum("bhikj,bhijc->bhikc", p, value1) + torch.einsum("bhikj,bhjkc->bhikc", p, value2)
    return *(t.expand(*t.shape[:-1], 8) for t in (top, total)), out


def given(seed, *shape):
    return (torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) * 2 - 1).half().double()


def mask(i, j):
    made = torch.rand(B, 1, i, 1, j, generator=torch.Generator().manual_seed(3)) > 0.6
    made[..., 0] = False  # a row that leaves all out has no softmax
    return made


def backward(query, key1, value1, key2, value2, grad, atten_mask, scale):
    leaves = [t.clone(memory_format=torch.contiguous_format).requires_grad_()
              for t in (query, key1, value1, key2, value2)]  # fmt: skip
    return torch.autograd.grad(forward(*leaves, atten_mask, scale)[2], leaves, grad)


def sizes(query, key1, value1, key2, value2, grad, atten_mask, scale):
    """Of the terms of each sum: products of magnitudes, with the weights of forward."""
    p = scores(query, key1, key2, atten_mask, scale).softmax(-1)
    q, k1, v1, k2, v2, g = (t.abs() for t in (query, key1, value1, key2, value2, grad))
    dp = torch.einsum("bhikc,bhijc->bhikj", g, v1) + torch.einsum("bhikc,bhjkc->bhikj", g, v2)
    ds = p * (dp + (p * dp).sum(-1, keepdim=True)) * scale
    return (
        torch.einsum("bhikj,bhijc->bhikc", ds, k1) + torch.einsum("bhikj,bhjkc->bhikc", ds, k2),
        torch.einsum("bhikj,bhikc->bhijc", ds, q), torch.einsum("bhikj,bhikc->bhijc", p, g),
        torch.einsum("bhikj,bhikc->bhjkc", ds, q), torch.einsum("bhikj,bhikc->bhjkc", p, g),
    )  # fmt: skip


for i, j, k, d in ((3, 5, 4, 8), (20, 17, 9, 16)):
    shapes = {"query": (i, k), "key1": (i, j), "value1": (i, j), "key2": (j, k), "value2": (j, k)}
    made = {n: given(at, B, H, *s, d) for at, (n, s) in enumerate(shapes.items())}
    inputs = {n: T(values=lambda _, t=t: t) for n, t in made.items()}
    for masked in (None, mask(i, j)):
        there = None if masked is None else T(dtype=torch.bool, values=lambda _, m=masked: m)
        case("aclnnFusedFloydAttention", forward, HALF, atten_mask=there, scale=SCALE, layouts=STRIDED,
             out_dtypes={"softmax_max": F32, "softmax_sum": F32}, **inputs)  # fmt: skip
        # The numbers are halves already, so that statistics of the rounded inputs are those of all types but bfloat16.
        top, total, out = forward(**made, atten_mask=masked, scale=SCALE)
        case("aclnnFusedFloydAttentionGrad", backward, [F32], grad=T(B, H, i, k, d), atten_mask=there, scale=SCALE,
             softmax_max=T(dtype=F32, values=lambda _, t=top: t.float().contiguous()),
             softmax_sum=T(dtype=F32, values=lambda _, t=total: t.float().contiguous()),
             attention_out=T(values=lambda _, t=out: t), layouts=STRIDED, terms=sizes, **inputs)  # fmt: skip
