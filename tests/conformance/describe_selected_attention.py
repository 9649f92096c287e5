# SPDX-License-Identifier: Apache-2.0
"""Cases of attention to chosen blocks of keys. The oracle takes one query and key head after the other, in float64."""

import torch
from case import T, case

HALF = [torch.float16, torch.bfloat16]
N, KV, D, E, R = 6, 2, 24, 16, 8
G = N // KV
FLOATS = {"softmax_max": torch.float32, "softmax_sum": torch.float32}
TABLE = torch.tensor([[3, 8, 0, 5, 2], [7, 1, 6, 1, 1], [4, 6, 1, 0, 0]])
PAGES, TOKENS = 9, 16


def fixed(t):
    return T(values=lambda _: t, dtype=t.dtype)


def chosen(shape, blocks, full=False):
    """Lists of different blocks; shorter ones end with -1."""
    g = torch.Generator().manual_seed(7)
    flat = torch.full((torch.Size(shape[:-1]).numel(), shape[-1]), -1, dtype=torch.int32)
    for i, row in enumerate(flat):
        n = shape[-1] if full else i % (shape[-1] + 1)
        row[:n] = torch.randperm(blocks, generator=g)[:n].int()
    return flat.view(shape)


def one(q, k, v, picked, size, seen, scale, sinks=None):
    """Of the queries [G, D] of one group; keys [S, D]. Result, maximum and sum."""
    at = [i for b in picked.tolist() if b >= 0 for i in range(b * size, min((b + 1) * size, seen))]
    scores = scale * q @ k[at].mT
    if sinks is not None:
        scores = torch.cat([scores, sinks.view(-1, 1)], -1)
    if scores.shape[1] == 0:
        return torch.zeros(len(q), v.shape[1]).double(), torch.full((len(q),), -torch.inf).double(), torch.zeros(len(q))
    top = scores.amax(-1)
    e = (scores - top.unsqueeze(-1)).exp()
    return e[:, : len(at)] @ v[at] / e.sum(-1, keepdim=True), top, e.sum(-1)


def packed(query, key, value, indices, query_ends, key_ends, scale, block):
    out = torch.zeros(*query.shape[:2], value.shape[-1], dtype=torch.float64)
    top, total = torch.zeros(2, *query.shape[:2], 8, dtype=torch.float64)
    for a, b, c, d in zip([0, *query_ends], query_ends, [0, *key_ends], key_ends, strict=False):
        for t in range(a, b):
            for n in range(KV):
                of = slice(n * G, (n + 1) * G)
                got = one(query[t, of], key[c:d, n], value[c:d, n], indices[t, n], block, d - c, scale)
                out[t, of], top[t, of], total[t, of] = got[0], got[1].view(-1, 1), got[2].view(-1, 1)
    return top, total, out


for size, rows in ((64, 320), (16, 100)):
    case("aclnnNsaSelectedAttention", packed, HALF, layouts=("plain", "sliced"), out_dtypes=FLOATS,
         query=T(7, N, D), key=T(rows + 64, KV, D), value=T(rows + 64, KV, E), atten_mask=None, query_ends=[3, 3, 6],
         key_ends=[64, 64, rows + 64], indices=fixed(torch.cat([chosen((3, KV, 1), 1, True).expand(3, KV, 3) * 1,
         chosen((4, KV, 3), -(-rows // size), True)])), scale=0.3, head_num=N, layout="TND", sparse_mode=0, block=size,
         count=3)  # fmt: skip


def taken(pages, sample, kv=KV):
    """[S, N, D] of a sample."""
    pages = pages.unflatten(2, (kv, -1)) if pages.dim() == 3 else pages
    return pages[TABLE[sample]].flatten(0, 1)


def infer(query, key, value, indices, key_ends, layout, block, scale):
    q = query.unflatten(-1, (N, -1)).squeeze(1) if layout == "BSH" else query.squeeze(1) if layout == "BSND" else query
    parts = []
    for b in range(len(q)):
        k, v = taken(key, b), taken(value, b)
        parts += [one(q[b, n * G : (n + 1) * G], k[:, n], v[:, n], indices[b, n], block, key_ends[b], scale)[0]
                  for n in range(KV)]  # fmt: skip
    out = torch.cat(parts).view(len(q), N, -1)
    return out.unsqueeze(1).flatten(2) if layout == "BSH" else out.unsqueeze(1) if layout == "BSND" else out


INFER = {"BSH": (3, 1, N * D), "BSND": (3, 1, N, D), "TND": (3, N, D)}
for layout, shape in INFER.items():
    flat = layout != "BSND"
    pages = {
        n: T(*((PAGES, TOKENS, KV * d) if flat else (PAGES, TOKENS, KV, d))) for n, d in (("key", D), ("value", E))
    }
    case("aclnnNsaSelectedAttentionInfer", infer, HALF, layouts=("plain",), query=T(*shape), **pages,
         indices=fixed(chosen((3, KV, 3), 3)), atten_mask=None, block_table=fixed(TABLE.int()), actual_seq_qlen=None,
         key_ends=[70, 40, 33], layout=layout, head_num=N, kv_head_num=KV, block=16, count=3, page_size=TOKENS,
         scale=0.3, sparse_mode=0)  # fmt: skip


def latent(layout, kv_layout, ends, key_ends, statistics, with_sinks):
    def oracle(query, key, indices, query_rope, key_rope, scale, block, sparse_mode, sinks=None):
        q, k = torch.cat([query, query_rope], -1), torch.cat([key, key_rope], -1)
        rows = q if layout == "TND" else q.flatten(0, 1)
        lists = indices if layout == "TND" else indices.flatten(0, 1)
        out = torch.zeros(*rows.shape[:2], D, dtype=torch.float64)
        top, total = torch.zeros(2, *rows.shape[:2], dtype=torch.float64)
        for i, end in enumerate(ends):
            first = ([0, *ends])[i] if layout == "TND" else i * q.shape[1]
            last = end if layout == "TND" else first + end
            if kv_layout == "TND":
                own = slice(([0, *key_ends])[i], key_ends[i])
                keys, values = k[own, 0], key[own, 0]
            else:
                pick = (lambda t, i=i: taken(t, i, 1)) if kv_layout == "PA_BSND" else (lambda t, i=i: t[i])
                keys, values = pick(k)[: key_ends[i], 0], pick(key)[: key_ends[i], 0]
            for t in range(first, last):
                seen = len(keys) - (last - t) + 1 if sparse_mode == 3 else len(keys)
                out[t], top[t], total[t] = one(rows[t], keys, values, lists[t, 0], block, seen, scale, sinks)
        if layout == "BSND":
            out, top, total = (t.view(*q.shape[:2], *t.shape[1:]) for t in (out, top, total))
        lse = (t.unsqueeze(-3) for t in (top, total))
        return out, *(lse if statistics else (None, None))

    def plain(query, key, indices, query_rope, key_rope, scale, block, sparse_mode):
        return oracle(query, key, indices, query_rope, key_rope, scale, block, sparse_mode)

    def sunk(query, key, indices, query_rope, key_rope, scale, block, sparse_mode, sinks):
        return oracle(query, key, indices, query_rope, key_rope, scale, block, sparse_mode, sinks)

    return sunk if with_sinks else plain


# Latent attention: values are the keys without their turned columns, of which there is one head.
LATENT = {
    ("BSND", "BSND"): ((3, 4, N), (3, 80, 1), [4, 1, 3], [80, 33, 5]),
    ("BSND", "PA_BSND"): ((3, 4, N), (PAGES, TOKENS, 1), [4, 4, 3], [80, 40, 16]),
    ("TND", "PA_BSND"): ((9, N), (PAGES, TOKENS, 1), [4, 4, 8], [80, 40, 48]),
    ("TND", "TND"): ((9, N), (150, 1), [4, 4, 8], [80, 85, 133]),
}
for (layout, kv_layout), (q, k, ends, key_ends) in LATENT.items():
    lengths = [b - a for a, b in zip([0, *key_ends], key_ends, strict=False)] if kv_layout == "TND" else key_ends
    for size, mode in ((1, 3), (8, 3), (16, 0)):
        blocks = min(-(-n // size) for n in lengths)
        statistics = layout == kv_layout == "TND"
        for name in ("aclnnSparseFlashAttention", "aclnnSparseFlashAttentionV2"):
            sinks = {"sinks": T(N, dtype=torch.float32)} if name.endswith("V2") else {}
            given = {"query": T(*q, D), "query_rope": T(*q, R), "key": T(*k, D), "key_rope": T(*k, R)}
            given |= {"block_table": fixed(TABLE.int()) if kv_layout == "PA_BSND" else None, "value": None}
            given |= {"indices": fixed(chosen((*q[:-1], 1, 4 if blocks >= 4 else 1), blocks))}
            told = latent(layout, kv_layout, ends, key_ends, statistics, bool(sinks))
            case(name, told, HALF, layouts=("plain",), out_dtypes=FLOATS, **given, **sinks, scale=0.3, block=size,
                 query_lengths=fixed(torch.tensor(ends).int()), key_lengths=fixed(torch.tensor(key_ends).int()),
                 layout=layout, kv_layout=kv_layout, sparse_mode=mode, pre_tokens=2**63 - 1, next_tokens=2**63 - 1,
                 attention_mode=2, return_softmax_lse=statistics)  # fmt: skip
