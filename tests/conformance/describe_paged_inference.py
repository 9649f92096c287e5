# SPDX-License-Identifier: Apache-2.0
"""Cases of attention for inference over sequences one behind the other (layouts TND, NTD), over keys in pages, with
columns of latent attention and with sinks. The oracle takes one sample after the other, in float64."""

import torch
from case import T, case
from describe_inference import LATER, UNBUILT

HALF = [torch.float16, torch.bfloat16]
N, KV, D, E, R = 4, 2, 32, 16, 8
Q_ENDS, LENGTHS = [3, 3, 8], [70, 4, 33]
K_ENDS = [70, 74, 107]
PAGES, TOKENS = 9, 16
TABLE = torch.tensor([[3, 8, 0, 5, 2], [7, 1, 1, 1, 1], [4, 6, 1, 0, 0]])
TO = {"TND": (0, 1, 2), "NTD": (1, 0, 2)}


def taken(pages, sample, length, kv):
    """Keys of a sample as [N, S, D] out of pages of any of the three forms."""
    if pages.dim() == 3:
        pages = pages.unflatten(2, (kv, -1)).transpose(1, 2)
    if pages.dim() == 5:
        pages = pages.transpose(2, 3).flatten(3)
    return pages[TABLE[sample]].transpose(0, 1).flatten(1, 2)[:, :length]


def one(q, k, v, scale, mode, sink):
    group = q.shape[0] // k.shape[0]
    scores = q @ k.repeat_interleave(group, 0).mT * scale
    if mode == 3:
        scores = scores.masked_fill(torch.ones(scores.shape[1:]).triu(1 + k.shape[1] - q.shape[1]).bool(), -torch.inf)
    if sink is not None:
        scores = torch.cat([scores, sink.view(-1, 1, 1).expand(-1, q.shape[1], 1)], -1)
    lse = scores.logsumexp(-1, keepdim=True)
    return (scores - lse).exp()[..., : k.shape[1]] @ v.repeat_interleave(group, 0), lse


def oracle(paged, sinks):
    def attention(query, key, value, query_rope, key_rope, scale, input_layout, sparse_mode, num_key_value_heads,
                  softmax_lse_flag, learnable_sink):  # fmt: skip
        kv = num_key_value_heads
        order = TO.get(input_layout[:3])
        samples = range(len(LENGTHS))

        def queries(t, b):
            if order is None:
                return t[b].transpose(0, 1) if input_layout.startswith("BSND") else t[b]
            return t.permute(order)[([0, *Q_ENDS])[b] : Q_ENDS[b]].transpose(0, 1)

        def keys(t, b):
            if paged:
                return taken(t, b, LENGTHS[b], kv)
            return t.permute(order)[([0, *K_ENDS])[b] : K_ENDS[b]].transpose(0, 1)

        parts = []
        for b in samples:
            q, k, v = queries(query, b), keys(key[0], b), keys(value[0], b)
            if query_rope is not None:
                q, k = torch.cat([q, queries(query_rope, b)], -1), torch.cat([k, keys(key_rope, b)], -1)
            parts.append(one(q, k, v, scale, sparse_mode, learnable_sink))
        out, lse = ([p[i] for p in parts] for i in range(2))
        if order is None:
            out = torch.stack(out)  # [B, N, S, D]
            last = input_layout.rsplit("_", 1)[-1]
            turned = {"BNSD": out, "BSND": out.transpose(1, 2), "NBSD": out.transpose(0, 1)}
            return turned[last], torch.stack(lse) if softmax_lse_flag else None
        rest = query.permute(order).shape[0] - Q_ENDS[-1]
        out = torch.nn.functional.pad(torch.cat(out, 1), (0, 0, 0, rest))  # [N, T, D]
        flat = torch.cat(lse, 1).transpose(0, 1)
        return (out.transpose(0, 1) if input_layout.endswith("TND") else out), flat if softmax_lse_flag else None

    def without_sink(query, key, value, query_rope, key_rope, scale, input_layout, sparse_mode, num_key_value_heads,
                     softmax_lse_flag):  # fmt: skip
        return attention(query, key, value, query_rope, key_rope, scale, input_layout, sparse_mode,
                         num_key_value_heads, softmax_lse_flag, None)  # fmt: skip

    return attention if sinks else without_sink


MASK = T(values=lambda _: torch.ones(2048, 2048).triu(1).bool(), dtype=torch.bool)


def infer(q, k, v, layout, kv=KV, table=None, rope=None, sink=None, **options):
    base = {
        "query": T(*q), "key": [T(*k)], "value": [T(*v)], "pse_shift": None, "atten_mask": None, "num_heads": N,
        "actual_seq_lengths": None, "actual_seq_lengths_kv": LENGTHS, "scale": 0.3, "pre_tokens": 65535,
        "next_tokens": 65535, "input_layout": layout, "num_key_value_heads": kv, "sparse_mode": 0, "inner_precise": 0,
        "block_size": 0, "antiquant_mode": 0, "softmax_lse_flag": False, "key_antiquant_mode": 0,
        "value_antiquant_mode": 0, **dict.fromkeys(UNBUILT), **options,
    }  # fmt: skip
    if table:
        base["block_table"] = T(values=lambda _: TABLE, dtype=torch.int32)
    for version, more in LATER.items():
        if version == "V3" and sink is not None:
            continue
        given = base | more
        if rope:
            given |= {"query_rope": T(*rope[0]), "key_rope": T(*rope[1])}
        if version != "V3":
            given |= {"learnable_sink": sink}
        told = oracle(table, version != "V3")
        case(f"aclnnFusedInferAttentionScore{version}", told, HALF, layouts=("plain", "sliced"),
             out_dtypes={"softmax_lse": torch.float32}, **given)  # fmt: skip


packed = {"actual_seq_lengths": Q_ENDS, "actual_seq_lengths_kv": K_ENDS}
rows = {"q": (10, N, D), "k": (107, KV, D), "v": (107, KV, E)}
turned = {"q": (N, 10, D), "k": (KV, 107, D), "v": (KV, 107, E)}
causal = {"sparse_mode": 3, "atten_mask": MASK}
infer(**rows, layout="TND", **packed, softmax_lse_flag=False)
infer(**rows, layout="TND", **packed, **causal)
infer(**rows, layout="TND_NTD", **packed, sink=T(N))
infer(**turned, layout="NTD_TND", **packed, **causal)
infer(**turned, layout="NTD", **packed)
infer(**rows, layout="TND", rope=((10, N, R), (107, KV, R)), **packed, **causal)
infer(q=(8, N, D), k=(107, KV, D), v=(107, KV, E), layout="TND", **packed, softmax_lse_flag=True)

pages = {
    "whole": ((PAGES, TOKENS, KV * D), (PAGES, TOKENS, KV * E)),
    "heads": ((PAGES, KV, TOKENS, D), (PAGES, KV, TOKENS, E)),
    "blocks": ((PAGES, KV, D // 16, TOKENS, 16), (PAGES, KV, E // 16, TOKENS, 16)),
}
for k, v in pages.values():
    infer(q=(8, N, D), k=k, v=v, layout="TND", table=True, actual_seq_lengths=Q_ENDS, **causal)
    infer(q=(3, N, 1, D), k=k, v=v, layout="BNSD", table=True, softmax_lse_flag=True)
    infer(q=(3, 2, N, D), k=k, v=v, layout="BSND_NBSD", table=True, sink=T(N))
infer(q=(3, 2, N, D), k=(PAGES, 1, TOKENS, D), v=(PAGES, 1, TOKENS, D), layout="BSND", kv=1, table=True,
      rope=((3, 2, N, R), (PAGES, 1, TOKENS, R)), **causal)  # fmt: skip
