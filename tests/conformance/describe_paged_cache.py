# SPDX-License-Identifier: Apache-2.0
"""Cases of caches in blocks; the oracles index a cache of plain rows, one slot after the other."""

import torch
from case import T, case

TYPES = [torch.float16, torch.bfloat16, torch.int8, torch.float32, torch.int32]
BLOCKS, PLACES, N, K, V, LAST = 5, 16, 2, 24, 40, 16
SLOTS = [7, 79, -1, 0, 33, 16, 15, 80]  # two are none


def rows(cache, size):
    """A cache as [slots, N, size]: a copy."""
    if cache.shape[1] == PLACES:
        return cache.reshape(-1, N, size)
    return cache.transpose(1, 2).reshape(-1, N, size)


def like(slots, cache):
    if cache.shape[1] == PLACES:
        return slots.reshape(cache.shape)
    return slots.view(BLOCKS, PLACES, -1, LAST).transpose(1, 2)


def written(tokens, cache, slot_mapping):
    slots = rows(cache, tokens.shape[2]).clone()
    for token, slot in zip(tokens, slot_mapping.tolist(), strict=True):
        if 0 <= slot < len(slots):
            slots[slot] = token
    return like(slots, cache)


def both(key, key_cache, slot_mapping, value, value_cache):
    return written(key, key_cache, slot_mapping), written(value, value_cache, slot_mapping)


def one(key, key_cache, slot_mapping):
    return written(key, key_cache, slot_mapping)


def gathered(cache, size, tables, lengths, offsets, count):
    slots, out = rows(cache, size), torch.zeros(count, N, size, dtype=cache.dtype)
    at = 0
    for i, length in enumerate(lengths):
        for j in range(length):
            column = (0 if offsets is None else offsets[i] // PLACES) + j // PLACES
            block = tables[i][column] if column < len(tables[i]) else -1
            if 0 <= block < BLOCKS:
                out[at] = slots[block * PLACES + j % PLACES]
            at += 1
    return out


def read(offsets, cumulative):
    def oracle(key_cache, value_cache, block_tables, seq_lens, key, value):
        lengths = (seq_lens.diff() if cumulative else seq_lens).tolist()
        given = block_tables.tolist(), lengths, offsets
        return tuple(gathered(c, t.shape[2], *given, len(t)) for c, t in ((key_cache, key), (value_cache, value)))

    return oracle


def numbers(values, dtype):
    return T(values=lambda _: torch.tensor(values), dtype=dtype) if dtype == torch.int64 else T(
        values=lambda _: torch.tensor(values, dtype=dtype), dtype=dtype)  # fmt: skip


def caches(mode):
    if mode == "PA_NZ":
        return [T(BLOCKS, N * size // LAST, PLACES, LAST) for size in (K, V)]
    return [T(BLOCKS, PLACES, N, size) for size in (K, V)]


for mode, index, layouts in (
    ("Norm", torch.int32, ("plain", "transposed", "sliced")),
    ("PA_NZ", torch.int64, ("plain",)),
    (None, torch.int64, ("plain",)),
):
    keys, values = caches(mode)
    slots = {"slot_mapping": numbers(SLOTS, index), "compress_lens": None, "compress_seq_offsets": None}
    slots |= {"seq_lens": None, "cache_mode": mode}
    case("aclnnScatterPaKvCache", both, TYPES, layouts=layouts, key=T(8, N, K), value=T(8, N, V), key_cache=keys,
         value_cache=values, scatter_mode="None", strides=[1, 1], offsets=[0, 0], **slots)  # fmt: skip
    case("aclnnScatterPaCache", one, TYPES, layouts=layouts, key=T(8, N, K), key_cache=keys, **slots)
    tables = numbers([[4, 0, 2], [1, 9, 3], [3, 3, 3]], index)
    for offsets, cumulative in ((None, False), ([0, 16, 40], True)):
        lengths = [0, 20, 53, 53] if cumulative else [20, 33, 0]
        case("aclnnGatherPaKvCache", read(offsets, cumulative), TYPES, layouts=layouts, key_cache=keys,
             value_cache=values, block_tables=tables, seq_lens=numbers(lengths, index), key=T(53, N, K),
             value=T(53, N, V), seq_offset=None if offsets is None else numbers(offsets, index), cache_mode=mode,
             is_seq_lens_cumsum=cumulative)  # fmt: skip
