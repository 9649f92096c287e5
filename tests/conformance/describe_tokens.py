# SPDX-License-Identifier: Apache-2.0
"""Cases of tokens laid out expert by expert and back."""

import torch
from case import T, case

KINDS = [torch.float32, torch.float16, torch.bfloat16]
TOKENS, TOP_K, HIDDEN = 7, 3, 5
APART = {"layouts": ("plain", "transposed", "sliced")}  # a slot lies in one place only


def slots(seed=0):
    """Where each slot lies: a permutation, as the forward call gives it."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randperm(TOKENS * TOP_K, generator=generator).int()


def permute(tokens, indices, num_out_tokens):
    rank = indices.flatten().argsort(stable=True).argsort()
    rows = torch.empty(indices.numel(), HIDDEN, dtype=tokens.dtype)
    rows[rank] = tokens.repeat_interleave(indices.numel() // TOKENS, 0)
    return rows[: num_out_tokens or None], rank.int()


def unpermute(tokens, sorted, probs):
    kept = torch.cat([tokens, torch.zeros(sorted.numel() - len(tokens), HIDDEN, dtype=tokens.dtype)])
    rows = kept[sorted.long()].view(TOKENS, -1, HIDDEN)
    return (rows * (1 if probs is None else probs[..., None])).sum(1)


def permute_gradient(grad, sorted):
    return unpermute(grad, sorted, torch.ones(TOKENS, TOP_K, dtype=grad.dtype))


def unpermute_gradient(tokens, grad, sorted, probs):
    leaves = [tokens.clone().requires_grad_()] + ([] if probs is None else [probs.clone().requires_grad_()])
    with torch.enable_grad():
        grads = torch.autograd.grad(unpermute(leaves[0], sorted, None if probs is None else leaves[1]), leaves, grad)
    return (*grads, None)[:2]


for shape, integer in (((TOKENS, TOP_K), torch.int64), ((TOKENS,), torch.int32)):
    for kept in (0, 5):
        case("aclnnMoeTokenPermute", permute, KINDS, tokens=T(TOKENS, HIDDEN), indices=T(*shape, low=0, high=4,
             dtype=integer), num_out_tokens=kept, padded_mode=False, out_dtypes={"sorted": torch.int32})  # fmt: skip
for rows in (TOKENS * TOP_K, 15):
    where = T(1, values=lambda _: slots(), dtype=torch.int32)
    common = {"sorted": where, "padded_mode": False, **APART}
    case("aclnnMoeTokenPermuteGrad", permute_gradient, KINDS, grad=T(rows, HIDDEN), top_k=TOP_K, **common)
    both = {"tokens": T(rows, HIDDEN), "probs": T(TOKENS, TOP_K), "restore_shape": None}
    case("aclnnMoeTokenUnpermute", unpermute, KINDS, **both, **common)
    case("aclnnMoeTokenUnpermuteGrad", unpermute_gradient, KINDS, grad=T(TOKENS, HIDDEN), **both, **common)
single = {"sorted": T(1, values=lambda g: torch.randperm(TOKENS, generator=g).int(), dtype=torch.int32),
          "tokens": T(TOKENS, HIDDEN), "probs": None, "padded_mode": False, "restore_shape": None, **APART}  # fmt: skip
case("aclnnMoeTokenUnpermute", unpermute, KINDS, **single)
case("aclnnMoeTokenUnpermuteGrad", unpermute_gradient, KINDS, grad=T(TOKENS, HIDDEN), **single)
