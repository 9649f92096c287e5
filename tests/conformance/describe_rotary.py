# SPDX-License-Identifier: Apache-2.0
"""Cases of rotary position embedding and its gradient."""

import torch
from case import T, case

KINDS = [torch.float32, torch.float16, torch.bfloat16]
HALF, INTERLEAVE, QUARTER, INTERLEAVE_HALF = range(4)


def rotated(x, mode):
    if mode == HALF:
        low, high = x.chunk(2, -1)
        return x, torch.cat([-high, low], -1)
    if mode == QUARTER:
        a, b, c, d = x.chunk(4, -1)
        return x, torch.cat([-b, a, -d, c], -1)
    even, odd = x[..., ::2], x[..., 1::2]
    if mode == INTERLEAVE:
        return x, torch.stack([-odd, even], -1).flatten(-2)
    return torch.cat([even, odd], -1), torch.cat([-odd, even], -1)


def rotary(x, cos, sin, mode):
    first, second = rotated(x, mode)
    return first * cos + second * sin


def by_matrix(x, cos, sin, rotate):
    return x * cos + (x @ rotate) * sin


def gradient(grad, cos, sin, x, mode):
    leaves = [t.clone().requires_grad_() for t in (x, cos, sin)]
    with torch.enable_grad():
        return torch.autograd.grad(rotary(*leaves, mode), leaves, grad)


def pair(query, key, cos, sin, rotary_mode):
    mode = ("half", "interleave", "quarter").index(rotary_mode)
    return rotary(query, cos, sin, mode), rotary(key, cos, sin, mode)


def values_only(grad, cos, sin):
    return gradient(grad, cos, sin, grad, HALF)[0], None, None


ANGLES = [
    ((2, 3, 5, 8), (1, 3, 1, 8)),
    ((2, 3, 5, 8), (1, 1, 5, 8)),
    ((6, 4, 8), (6, 1, 8)),
    ((2, 3, 5, 4), (2, 3, 5, 4)),
]
for shape, angle in ANGLES:
    angles = {"cos": T(*angle, low=-1, high=1), "sin": T(*angle, low=-1, high=1)}
    for mode in range(4):
        case("aclnnRotaryPositionEmbedding", rotary, KINDS, x=T(*shape), mode=mode, **angles)
        case("aclnnRotaryPositionEmbeddingV2", rotary, KINDS, x=T(*shape), mode=mode, rotate=None, **angles)
        case("aclnnRotaryPositionEmbeddingGrad", gradient, KINDS, grad=T(*shape), x=T(*shape), mode=mode, **angles)
    turn = T(shape[-1], shape[-1], low=-1, high=1)
    case("aclnnRotaryPositionEmbeddingV2", by_matrix, KINDS, x=T(*shape), mode=HALF, rotate=turn, **angles,
         terms="absolute")  # fmt: skip
    case("aclnnRotaryPositionEmbeddingGrad", values_only, KINDS, grad=T(*shape), x=None, mode=HALF, **angles)
    case("aclnnInterleaveRope", lambda x, cos, sin: rotary(x, cos, sin, INTERLEAVE_HALF), KINDS, x=T(*shape), **angles)
    both = {"query": T(*shape), "key": T(*shape), "layout": 1}
    case(
        "aclnnApplyRotaryPosEmb",
        lambda query, key, cos, sin: pair(query, key, cos, sin, "half"),
        KINDS,
        **both,
        **angles,
    )
    for word in ("half", "interleave", "quarter"):
        case("aclnnApplyRotaryPosEmbV2", pair, KINDS, rotary_mode=word, **both, **angles)  # fmt: skip
