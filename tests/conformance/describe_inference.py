# SPDX-License-Identifier: Apache-2.0
"""Cases of what inference calls: attention over a cache of keys, products with small weights, blocked weights."""

import torch
from case import T, case, unpacked

HALF = [torch.float16, torch.bfloat16]
B, N, KV, S, L, D = 3, 4, 2, 5, 40, 16
UNBUILT = [
    "dequant_scale1", "quant_scale1", "dequant_scale2", "quant_scale2", "quant_offset2", "antiquant_scale",
    "antiquant_offset", "block_table", "query_padding_size", "kv_padding_size", "key_antiquant_scale",
    "key_antiquant_offset", "value_antiquant_scale", "value_antiquant_offset", "key_shared_prefix",
    "value_shared_prefix", "actual_shared_prefix_len",
]  # fmt: skip
LATER = {"V3": dict.fromkeys(("query_rope", "key_rope", "key_rope_antiquant_scale"))}
LATER["V4"] = LATER["V3"] | {"dequant_scale_query": None, "learnable_sink": None, "query_quant_mode": 0}
LATER["V5"] = LATER["V4"] | {"q_start_idx": None, "kv_start_idx": None, "pse_type": 0}


def heads(t, layout, n):
    if layout == "BSH":
        t = t.unflatten(2, (n, -1))
    return t if layout.startswith("BNSD") else t.transpose(1, 2)


def folded(t, layout):
    t = t if layout == "BNSD" else t.transpose(1, 2)
    return t.flatten(2) if layout == "BSH" else t


def attention(query, key, value, pse_shift, atten_mask, actual_seq_lengths, actual_seq_lengths_kv, num_heads, scale,
              input_layout, num_key_value_heads, sparse_mode, softmax_lse_flag):  # fmt: skip
    kv = num_key_value_heads or num_heads
    q = heads(query, input_layout, num_heads)
    k, v = (torch.cat([heads(t, input_layout, kv) for t in ts]).repeat_interleave(num_heads // kv, 1)
            for ts in (key, value))  # fmt: skip
    scores = q @ k.mT * scale + (0 if pse_shift is None else pse_shift)
    if sparse_mode == 3:
        scores = scores.masked_fill(
            torch.ones(q.shape[2], k.shape[2]).triu(1 + k.shape[2] - q.shape[2]).bool(), -torch.inf
        )
    elif atten_mask is not None:
        mask = atten_mask.bool()
        mask = mask.unsqueeze(1) if mask.dim() == 2 and q.shape[2] == 1 else mask
        scores = scores.masked_fill(mask.unsqueeze(1) if mask.dim() == 3 else mask, -torch.inf)
    for b in range(len(q)):
        if actual_seq_lengths_kv is not None:
            scores[b, :, :, actual_seq_lengths_kv[b % len(actual_seq_lengths_kv)] :] = -torch.inf
    lse = scores.logsumexp(-1, keepdim=True)
    out = torch.where(lse.isinf(), 0.0, (scores - lse).exp()).nan_to_num() @ v
    for b in range(len(q)):
        if actual_seq_lengths is not None:
            out[b, :, actual_seq_lengths[b % len(actual_seq_lengths)] :] = 0
    return folded(out, input_layout), lse if softmax_lse_flag else None


def prompt(query, key, value, pse_shift, atten_mask, actual_seq_lengths, actual_seq_lengths_kv, num_heads, scale,
           input_layout, num_key_value_heads, sparse_mode):  # fmt: skip
    return attention(query, [key], [value], pse_shift, atten_mask, actual_seq_lengths, actual_seq_lengths_kv, num_heads,
                     scale, input_layout, num_key_value_heads, sparse_mode, False)[0]  # fmt: skip


def increment(query, key, value, pse_shift, atten_mask, actual_seq_lengths_kv, num_heads, scale, input_layout,
              num_key_value_heads):  # fmt: skip
    return attention(query, key, value, pse_shift, atten_mask, None, actual_seq_lengths_kv, num_heads, scale,
                     input_layout, num_key_value_heads, 0, False)[0]  # fmt: skip


def infer(q=(B, S, N, D), k=(B, L, KV, D), keys=1, **options):
    values = {
        "query": T(*q), "key": [T(*k)] * keys, "value": [T(*k)] * keys, "pse_shift": None, "atten_mask": None,
        "actual_seq_lengths": None, "actual_seq_lengths_kv": None, "num_heads": N, "scale": 0.3, "pre_tokens": 65535,
        "next_tokens": 65535, "input_layout": "BSND", "num_key_value_heads": KV, "sparse_mode": 0, "inner_precise": 0,
        "block_size": 0, "antiquant_mode": 0, "softmax_lse_flag": False, "key_antiquant_mode": 0,
        "value_antiquant_mode": 0, **dict.fromkeys(UNBUILT), **options,
    }  # fmt: skip
    settings = {"out_dtypes": {"softmax_lse": torch.float32}}
    layouts = ("plain", "transposed", "sliced")
    case("aclnnFusedInferAttentionScoreV2", attention, HALF, layouts=layouts, **settings, **values)
    one = {n: v for n, v in values.items() if n not in ("key", "value")}
    if keys == 1 and not values["softmax_lse_flag"]:
        whole = {"key": T(*k), "value": T(*k)}
        case("aclnnPromptFlashAttentionV3", prompt, HALF, layouts=("plain",), **whole, **one)
    if values["query"].shape[1 if values["input_layout"].startswith("BS") else 2] == 1:
        case("aclnnIncreFlashAttentionV4", increment, HALF, layouts=("plain",), **values)
    for version, more in LATER.items():
        case(
            f"aclnnFusedInferAttentionScore{version}", attention, HALF, layouts=("plain",), **settings, **values, **more
        )


infer()
infer(pse_shift=T(B, N, S, L))
infer(q=(B, 1, N, D), pse_shift=T(1, 1, 1, L))
infer(q=(B, N, S, D), k=(B, KV, L, D), input_layout="BNSD", softmax_lse_flag=True)
infer(q=(B, N, S, D), k=(B, KV, L, D), input_layout="BNSD_BSND")
infer(q=(B, S, N * D), k=(B, L, KV * D), input_layout="BSH")
infer(k=(B, L, N, D), num_key_value_heads=0)
infer(atten_mask=T(B, S, L, dtype=torch.bool))
infer(atten_mask=T(B, 1, S, L, dtype=torch.int8, low=0, high=2))
infer(sparse_mode=3)
infer(actual_seq_lengths_kv=[40, 17, 1], softmax_lse_flag=True)
infer(q=(B, 1, N, D), actual_seq_lengths_kv=[40, 17, 1])
infer(q=(B, 1, N * D), k=(B, L, KV * D), input_layout="BSH", actual_seq_lengths_kv=[12])
infer(q=(B, N, 1, D), k=(1, KV, L, D), keys=B, input_layout="BNSD", actual_seq_lengths_kv=[40, 1, 5])
infer(actual_seq_lengths=[5, 2, 0], actual_seq_lengths_kv=[9], pse_shift=T(B, N, S, L))
infer(k=(1, L, KV, D), keys=B, actual_seq_lengths_kv=[40, 17, 5])
infer(q=(B, 1, N, D), atten_mask=T(B, L, dtype=torch.bool))


K, COLUMNS = 96, 600


def product(x, weight, antiquant_scale, antiquant_offset, bias, antiquant_group_size):
    rows = antiquant_group_size or K
    offset = torch.zeros_like(antiquant_scale) if antiquant_offset is None else antiquant_offset
    grouped = antiquant_scale.dim() == 2 and len(antiquant_scale) > 1
    scale, offset = (t.repeat_interleave(rows, 0)[:K] if grouped else t for t in (antiquant_scale, offset))
    return x @ ((weight.double() + offset) * scale) + (0 if bias is None else bias)


def product_terms(x, weight, antiquant_scale, antiquant_offset, bias, antiquant_group_size):
    arguments = (None if t is None else t.double().abs() for t in (x, weight, antiquant_scale, antiquant_offset, bias))
    return product(*arguments, antiquant_group_size)


for grid, group in (((COLUMNS,), 0), ((1, COLUMNS), 0), ((1,), 0), ((3, COLUMNS), 32)):
    for offset, bias in ((None, None), (T(*grid), T(COLUMNS))):
        for x in (T(4, K), T(2, 3, K)):
            common = {"x": x, "weight": T(K, COLUMNS, low=-128, high=128, dtype=torch.int8), "quant_offset": None,
                      "antiquant_scale": T(*grid), "antiquant_offset": offset, "bias": bias, "quant_scale": None,
                      "antiquant_group_size": group, "terms": product_terms}  # fmt: skip
            case("aclnnWeightQuantBatchMatmulV2", product, HALF, layouts=("plain", "transposed"), **common)
            case("aclnnWeightQuantBatchMatmulV3", product, HALF, layouts=("plain",), inner_precise=1, **common)


def product_of_nibbles(x, weight, antiquant_scale):
    return x @ (unpacked(weight.mT).mT * antiquant_scale)


def product_quantised(x, weight, antiquant_scale, quant_scale, quant_offset):
    words = quant_scale.dtype == torch.int64
    scale = (quant_scale & 0xFFFFE000).int().view(torch.float32).double() if words else quant_scale
    shift = 0 if quant_offset is None else quant_offset.round() if words else quant_offset
    return x @ (weight.double() * antiquant_scale) * scale + shift


# int32 that holds eight neighbours of a column, and a result that is quantised again.
PLAIN = dict.fromkeys(("antiquant_offset", "bias")) | {"antiquant_group_size": 0, "antiquant_scale": T(COLUMNS)}
WORDS = T(values=lambda g: torch.full((COLUMNS,), 0.0625).view(torch.int32).long(), dtype=torch.int64)
for name, more in (("aclnnWeightQuantBatchMatmulV2", {}), ("aclnnWeightQuantBatchMatmulV3", {"inner_precise": 0})):
    case(name, product_of_nibbles, HALF, layouts=("transposed",), x=T(4, K), quant_scale=None, quant_offset=None,
         weight=T(K // 8, COLUMNS, low=-(2**31), high=2**31 - 1, dtype=torch.int32), **PLAIN, **more)  # fmt: skip
    for scale in (WORDS, T(COLUMNS, low=0.05, high=0.1, dtype=torch.float32)):
        for shift in (None, T(COLUMNS, low=-30, high=30, dtype=torch.float32)):
            case(name, product_quantised, HALF, layouts=("plain",), x=T(4, K), quant_scale=scale, quant_offset=shift,
                 weight=T(K, COLUMNS, low=-9, high=9, dtype=torch.int8), whole={"y": torch.int8}, **PLAIN,
                 **more)  # fmt: skip


def blocked(self):
    """[k, n] as [n / n0, k / 16, 16, n0], where n0 elements are 32 bytes: float16 here."""
    return self.unflatten(1, (-1, 16)).unflatten(0, (-1, 16)).permute(2, 0, 1, 3).reshape(self.shape)


case("aclnnTransMatmulWeight", blocked, HALF, layouts=("plain",), self=T(48, 32))
