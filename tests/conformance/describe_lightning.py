# SPDX-License-Identifier: Apache-2.0
"""Cases of what finds keys for sparse attention, and of what grouped-query attention keeps of a token. Scores are sums
of small whole numbers, so that they are exact and ties are, too: the first of equal keys comes first."""

import torch
from case import T, case

HALF = [torch.float32, torch.float16, torch.bfloat16]
HEADS, D = 4, 16
STRIDED = ("plain", "transposed", "sliced")


def small(*shape, seed=0):
    return T(*shape, values=lambda g: torch.randint(-2, 3, shape, generator=g.manual_seed(seed)).double())


def whole(*values):
    return T(len(values), values=lambda _: torch.tensor(values, dtype=torch.int32), dtype=torch.int32)


def indexed(samples):
    """samples(query, key, …) gives (rows of the result, queries, weights, keys) of each sample."""

    def oracle(query, key, weights, query_lengths, key_lengths, block_table, sparse_count, sparse_mode, return_value):
        shape = (*query.shape[:-2], sparse_count)
        indices, values = torch.full(shape, -1, dtype=torch.int32), torch.zeros(shape, dtype=torch.float64)
        for place, q, w, k in samples(query, key, weights, query_lengths, key_lengths, block_table):
            scores = (w.unsqueeze(-1) * (q @ k.T).clamp(min=0)).sum(1)
            for i, row in enumerate(scores):
                seen = min(max(len(k) - len(q) + i + 1, 0), len(k)) if sparse_mode == 3 else len(k)
                order = sorted(range(seen), key=lambda j: (-row[j].item(), j))[:sparse_count]
                indices[place][i, : len(order)] = torch.tensor(order, dtype=torch.int32)
                values[place][i, : len(order)] = row[order]
        return indices.unsqueeze(-2), values.unsqueeze(-2) if return_value else None

    return oracle


def batched(query, key, weights, query_lengths, key_lengths, block_table):
    for b in range(len(query)):
        s = query.shape[1] if query_lengths is None else query_lengths[b].item()
        if block_table is None:
            k = key[b, : key.shape[1] if key_lengths is None else key_lengths[b].item(), 0]
        else:
            k = key[block_table[b].long(), :, 0].flatten(0, 1)[: key_lengths[b].item()]
        yield (b, slice(0, s)), query[b, :s], weights[b, :s], k


def packed(query, key, weights, query_lengths, key_lengths, block_table):
    begin = first = 0
    for b, end in enumerate(query_lengths.tolist()):
        if block_table is None:
            k = key[first : key_lengths[b].item(), 0]
            first = key_lengths[b].item()
        else:
            k = key[block_table[b].long(), :, 0].flatten(0, 1)[: key_lengths[b].item()]
        yield slice(begin, end), query[begin:end], weights[begin:end], k
        begin = end


def lightning(samples, query, keys, lengths=(None, None), table=None, **options):
    values = {
        "query": small(*query, HEADS, D), "key": small(*keys, 1, D, seed=1), "weights": small(*query, HEADS, seed=2),
        "query_lengths": lengths[0], "key_lengths": lengths[1], "block_table": table, "pre_tokens": 2**63 - 1,
        "next_tokens": 2**63 - 1, "layouts": STRIDED, "out_dtypes": {"indices": torch.int32},
    }  # fmt: skip
    for mode in (0, 3):
        for count in (1, 5, 30):
            for tells in (False, True):
                case("aclnnLightningIndexer", indexed(samples), HALF, sparse_count=count, sparse_mode=mode,
                     return_value=tells, **values, **options)  # fmt: skip


TABLE = T(2, 3, values=lambda _: torch.tensor([[4, 0, 2], [1, 5, 3]], dtype=torch.int32), dtype=torch.int32)
ROWS, PACKED = {"layout": "BSND", "key_layout": "BSND"}, {"layout": "TND", "key_layout": "TND"}
lightning(batched, (2, 3), (2, 20), **ROWS)
lightning(batched, (1, 2), (1, 600), **ROWS)
lightning(batched, (2, 3), (2, 20), (whole(3, 1), whole(7, 20)), **ROWS)
lightning(packed, (7,), (26,), (whole(3, 7), whole(9, 26)), **PACKED)
lightning(batched, (2, 3), (6, 16), (None, whole(40, 17)), TABLE, layout="BSND", key_layout="PA_BSND")
lightning(packed, (7,), (6, 16), (whole(3, 7), whole(48, 5)), TABLE, layout="TND", key_layout="PA_BSND")

# --- what grouped-query attention keeps -----------------------------------------------------------------------------

B, S, NQ, NK, NV, DEPTH, BLOCKS, SIZE = 2, 3, 4, 2, 1, 32, 3, 4


def normed(x, gamma, eps, cos, sin):
    x = x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * gamma
    a, b = x.chunk(2, -1)
    return x * cos.unsqueeze(1) + torch.cat([-b, a], -1) * sin.unsqueeze(1)


def kept(cache, made, index, whole):
    blocks, _, size, width = cache.shape
    out = cache.double() if whole else cache.clone(memory_format=torch.contiguous_format)
    rows = out.unflatten(1, (made.shape[1], -1))
    for token, slot in enumerate(index.tolist()):
        if slot >= 0:
            rows[slot // size, :, :, slot % size] = made[token].unflatten(-1, (-1, width))
    return rows.flatten(1, 2)


def projected(tells):
    def oracle(qkv, q_gamma, k_gamma, cos, sin, index, k_cache, v_cache, k_scale, v_scale, k_offset, v_offset, epsilon):
        q, k, v = qkv.unflatten(-1, (-1, DEPTH)).split([NQ, NK, NV], 1)
        q, k = normed(q, q_gamma, epsilon, cos, sin), normed(k, k_gamma, epsilon, cos, sin)
        stored = []
        for x, cache, scale, offset in ((k, k_cache, k_scale, k_offset), (v, v_cache, v_scale, v_offset)):
            made = x if scale is None else x / scale + (0 if offset is None else offset)
            stored.append(kept(cache, made, index, scale is not None))
        before = [t.flatten(1) for t in (q, k, v)] if tells else [None] * 3
        return q.flatten(1), *stored, *before

    return oracle


for quantised in (False, True):
    for offset in (False, True) if quantised else (False,):
        for tells in (False, True):
            width, kind = (32, torch.int8) if quantised else (16, None)
            scales = {
                name: T(heads, DEPTH, low=low, high=high, dtype=torch.float32) if there else None
                for name, heads, low, high, there in (
                    ("k_scale", NK, 0.02, 0.05, quantised), ("v_scale", NV, 0.02, 0.05, quantised),
                    ("k_offset", NK, -5, 5, offset), ("v_offset", NV, -5, 5, offset))
            }  # fmt: skip
            case("aclnnQkvRmsNormRopeCache", projected(tells), HALF, qkv=T(B * S, (NQ + NK + NV) * DEPTH),
                 q_gamma=T(DEPTH), k_gamma=T(DEPTH), cos=T(B * S, DEPTH, low=-1, high=1),
                 sin=T(B * S, DEPTH, low=-1, high=1), q_out=T(B * S, NQ * DEPTH),
                 index=T(B * S, dtype=torch.int64, values=lambda _: torch.tensor([3, -1, 11, 0, 6, 5])),
                 k_cache=T(BLOCKS, NK * DEPTH // width, SIZE, width, dtype=kind),
                 v_cache=T(BLOCKS, NV * DEPTH // width, SIZE, width, dtype=kind), epsilon=1e-6, cache_mode="PA_NZ",
                 qkv_size=[B, S, NQ + NK + NV, DEPTH], head_nums=[NQ, NK, NV], layouts=STRIDED,
                 whole={"k_cache": kind, "v_cache": kind} if quantised else {}, **scales)  # fmt: skip
