# SPDX-License-Identifier: Apache-2.0
"""Cases of rotations whose angles stand in a table, and of what latent attention keeps of a token; the oracles follow
the formulas of npu_mrope and npu_kv_rmsnorm_rope_cache."""

import torch
from case import T, case

HALF = [torch.float32, torch.float16, torch.bfloat16]
TOKENS, HEAD, TURNED, TABLE = 20, 40, 32, 50
STRIDED = ("plain", "transposed", "sliced")


def turned(x, cos, sin, neox):
    """Heads [T, N, D], of which the first columns turn."""
    half = cos.shape[-1]
    part, rest = x[..., : 2 * half], x[..., 2 * half :]
    a, b = (part[..., :half], part[..., half:]) if neox else (part[..., ::2], part[..., 1::2])
    a, b = a * cos - b * sin, b * cos + a * sin
    return torch.cat([torch.cat([a, b], -1) if neox else torch.stack([a, b], -1).flatten(-2), rest], -1)


def by_table(section, neox, mode):
    def oracle(positions, query, key, cos_sin_cache):
        angles = cos_sin_cache[positions.long()]
        if positions.dim() == 2:
            if mode == 0:
                row = torch.arange(len(section)).repeat_interleave(torch.tensor(section))
            else:
                pair = torch.arange(TURNED // 2)
                row = torch.where(pair < 3 * section[1], pair % 3, 0)
            angles = angles.unflatten(-1, (2, -1))[row, :, :, torch.arange(TURNED // 2)].permute(1, 2, 0).flatten(-2)
        cos, sin = angles.unsqueeze(1).chunk(2, -1)
        return tuple(turned(x.unflatten(1, (-1, HEAD)), cos, sin, neox).flatten(1) for x in (query, key))

    return oracle


def rope(neox, mode=0, rows=(), section=None, dtype=torch.int64, layouts=("plain",)):
    positions = T(*rows, TOKENS, dtype=dtype, values=lambda g: torch.randint(0, TABLE, (*rows, TOKENS), generator=g).to(
        dtype))  # fmt: skip
    values = {
        "positions": positions, "query": T(TOKENS, 3 * HEAD), "key": T(TOKENS, HEAD), "head_size": HEAD,
        "cos_sin_cache": T(TABLE, TURNED, low=-1, high=1), "mrope_section": section, "is_neox_style": neox,
    }  # fmt: skip
    oracle = by_table(section, neox, mode)
    if mode == 0:
        case("aclnnRopeWithSinCosCache", oracle, HALF, layouts=layouts, **values)
    case("aclnnRopeWithSinCosCacheV2", oracle, HALF, layouts=layouts, cache_mode=mode, **values)


for neox in (True, False):
    rope(neox, layouts=STRIDED)
    rope(neox, section=[0, 0, 0], dtype=torch.int32)
    rope(neox, rows=(3,), section=[4, 5, 7], layouts=STRIDED)
    rope(neox, rows=(4,), section=[4, 5, 3, 4], dtype=torch.int32)
    rope(neox, mode=1, rows=(3,), section=[6, 5, 5])

B, S, C, R, BLOCK, BLOCKS = 3, 5, 48, 32, 4, 9


def kept(slots, length, cache, made):
    """Rows of `made` [B, S, D] at their slots of a cache [batches, length, D]: a copy."""
    out = cache.clone(memory_format=torch.contiguous_format)
    for b in range(B):
        for s in range(S):
            slot = slots(b, s)
            if 0 <= slot < length:
                out.view(-1, out.shape[-1])[slot if cache.shape[0] == 1 else b * length + slot] = made[b, s]
    return out


def in_rows(cache, mode):
    """A cache as [batches, length, D]."""
    if mode == "Norm":
        return cache.reshape(B, -1, cache.shape[3])
    if mode.endswith("NZ"):
        size = cache.shape[3]
        return cache.reshape(BLOCKS, size // 16, BLOCK, 16).transpose(1, 2).reshape(1, -1, size)
    return cache.reshape(1, -1, cache.shape[3])


def as_cache(rows, cache, mode):
    if mode.endswith("NZ"):
        return rows.view(BLOCKS, BLOCK, -1, 16).transpose(1, 2).reshape(cache.shape)
    return rows.reshape(cache.shape)


def latent(mode, tells):
    def oracle(kv, gamma, cos, sin, index, k_cache, ckv_cache, epsilon):
        x, rest = kv[..., :C], kv[..., C:]
        normed = x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt() * gamma
        a, b = rest[..., ::2], rest[..., 1::2]
        rotated = torch.cat([a, b], -1) * cos + torch.cat([-b, a], -1) * sin
        blocks = -(-S // BLOCK)
        slots = {"Norm": lambda b, s: index[b, s].item(), "BLK": lambda b, s: index[b * blocks + s // BLOCK].item() +
                 s % BLOCK, "PA": lambda b, s: index[b * S + s].item()}  # fmt: skip
        slot = slots["Norm" if mode == "Norm" else "BLK" if "BLK" in mode else "PA"]
        caches = []
        for cache, made in ((k_cache, rotated), (ckv_cache, normed)):
            rows = in_rows(cache, mode)
            caches.append(as_cache(kept(slot, rows.shape[1], rows, made[:, 0]), cache, mode))
        return (*caches, rotated if tells else None, normed if tells else None)

    return oracle


def numbers(mode):
    if mode == "Norm":
        return torch.tensor([[4, 0, 9, 3, 2], [5, 6, 7, 8, 9], [1, -1, 0, 3, 11]])
    if "BLK" in mode:
        return torch.tensor([0, 4, 20, 12, 28, 36])  # the last lies behind the cache
    return torch.arange(B * S).flip(0) * 2


for mode in ("Norm", "PA", "PA_BNSD", "PA_NZ", "PA_BLK_BNSD", "PA_BLK_NZ"):
    shape = (B, 1, 10) if mode == "Norm" else (BLOCKS, BLOCK, 1)
    for tells in (False, True):
        case("aclnnKvRmsNormRopeCache", latent(mode, tells), HALF,
             layouts=("plain",) if mode.endswith("NZ") else STRIDED,
             kv=T(B, 1, S, C + R), gamma=T(C), cos=T(B, 1, S, R, low=-1, high=1), sin=T(B, 1, S, R, low=-1, high=1),
             index=T(dtype=torch.int64, values=lambda _, m=mode: numbers(m)), k_cache=T(*shape, R),
             ckv_cache=T(*shape, C), k_rope_scale=None, c_kv_scale=None, k_rope_offset=None, c_kv_offset=None,
             epsilon=1e-5, cache_mode=mode, is_output_kv=tells)  # fmt: skip
