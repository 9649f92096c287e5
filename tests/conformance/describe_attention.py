# SPDX-License-Identifier: Apache-2.0
"""Cases of attention; the oracle is written out with softmax in float64 and torch's autograd."""

import torch
from case import T, case

HALF = [torch.float32, torch.float16, torch.bfloat16]
B, N, KV, S, L, D = 2, 4, 2, 70, 300, 8


def heads(t, layout, n):
    if layout == "BSH":
        return t.view(t.shape[0], t.shape[1], n, -1).transpose(1, 2)
    if layout == "SBH":
        return t.view(t.shape[0], t.shape[1], n, -1).permute(1, 2, 0, 3)
    return t if layout == "BNSD" else t.transpose(1, 2)


def folded(t, layout):
    if layout == "BSH":
        return t.transpose(1, 2).flatten(2)
    if layout == "SBH":
        return t.permute(2, 0, 1, 3).flatten(2)
    return t if layout == "BNSD" else t.transpose(1, 2)


def hidden(mode, mask, q, k):
    """Where scores are masked, or None: nowhere without a mask, which modes 2 and 3 want compressed and do not read."""
    if mask is None or mask.numel() == 0:
        return None
    if mode == 2:
        return torch.ones(q, k).triu(1).bool()
    if mode == 3:
        return torch.ones(q, k).triu(1 + k - q).bool()
    return mask.bool()


def scored(q, k, scale, pse=None, pse_type=1):
    """As documented of npu_fusion_attention: with pse_type 1, its default, the bias is scaled, too."""
    bias = 0 if pse is None else pse
    return scale * (q @ k.mT + bias) if pse_type == 1 else scale * (q @ k.mT) + bias


def attention(q, k, v, scale, mode=0, mask=None, pse=None, keep=None, keep_prob=1.0, pse_type=1):
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = scored(q, k, scale, pse, pse_type)
    off = hidden(mode, mask, q.shape[2], k.shape[2])
    if off is not None:
        scores = scores.masked_fill(off, float("-inf"))
    top = scores.amax(-1, keepdim=True)
    safe = torch.where(top.isinf(), torch.zeros_like(top), top)
    e = (scores - safe).exp()
    total = e.sum(-1, keepdim=True)
    p = torch.where(total > 0, e / total, torch.zeros_like(e))
    dropped = p if keep is None else p * keep / keep_prob
    return dropped @ v, top.expand(*top.shape[:3], 8), total.expand(*total.shape[:3], 8)


def keep_bits(mask, shape):
    bits = torch.stack([(mask >> i) & 1 for i in range(8)], -1).flatten()
    count = torch.Size(shape).numel()
    return bits[:count].view(shape).double()


def forward(pse_type):
    def oracle(query, key, value, atten_mask, pse, drop_mask, keep_prob, scale, input_layout, sparse_mode, head_num):
        kv = key.shape[2] * head_num // query.shape[2] if query.dim() == 3 else 0
        q, k, v = (heads(t, input_layout, n) for t, n in ((query, head_num), (key, kv), (value, kv)))
        keep = None if drop_mask is None else keep_bits(drop_mask, (*q.shape[:3], k.shape[2]))
        out, top, total = attention(q, k, v, scale, sparse_mode, atten_mask, pse, keep, keep_prob, pse_type)
        return top, total, None, folded(out, input_layout)

    return oracle


COMMON = {
    "pse": None, "drop_mask": None, "padding_mask": None, "atten_mask": None, "prefix": [], "scale": 0.3,
    "keep_prob": 1.0, "pre_tokens": 2147483647, "next_tokens": 2147483647, "head_num": N, "input_layout": "BNSD",
    "inner_precise": 0, "sparse_mode": 0,
}  # fmt: skip
STATISTICS = {"softmax_max": torch.float32, "softmax_sum": torch.float32}


def flash(**options):
    values = {"query": T(B, N, S, D), "key": T(B, KV, L, D), "value": T(B, KV, L, D), **COMMON, **options}
    # A bit mask has no strides: the client packs it.
    layouts = ("plain",) if "drop_mask" in options else ("plain", "transposed", "sliced")
    case("aclnnFlashAttentionScore", forward(1), HALF, layouts=layouts, out_dtypes=STATISTICS, **values)
    for pse_type in (0, 1) if values["pse"] is not None else (1,):
        case("aclnnFlashAttentionScoreV2", forward(pse_type), HALF, layouts=("plain",), out_dtypes=STATISTICS,
             q_start_idx=[], kv_start_idx=[], pse_type=pse_type, **values)  # fmt: skip


CAUSAL = torch.ones(2048, 2048).triu(1).bool()
flash()
flash(sparse_mode=2)
for mode in (2, 3):
    flash(sparse_mode=mode, atten_mask=T(values=lambda _: CAUSAL, dtype=torch.bool))
flash(atten_mask=T(S, L, dtype=torch.bool))
flash(atten_mask=T(B, 1, S, L, dtype=torch.bool), pse=T(B, N, S, L))
flash(drop_mask=T(B * N * S * L // 8, dtype=torch.uint8, low=0, high=255), keep_prob=0.5)
flash(query=T(B, S, N * D), key=T(B, L, KV * D), value=T(B, L, KV * D), input_layout="BSH")
flash(query=T(S, B, N * D), key=T(L, B, KV * D), value=T(L, B, KV * D), input_layout="SBH")
flash(query=T(B, S, N, D), key=T(B, L, N, D), value=T(B, L, N, D), input_layout="BSND")


def consistent(mode, pse_type):
    """Backward needs the forward's results: made here in float64 from the same seed as the other inputs. A bias is
    among them where there is a pse_type."""

    def made(g):
        q, k, v, dy, pse = (torch.rand(s, generator=g, dtype=torch.float64) * 2 - 1 for s in SHAPES)
        q, k, v, dy, pse = (t.bfloat16().double() for t in (q, k, v, dy, pse))  # exact in every dtype under test
        bias = {} if pse_type is None else {"pse": pse, "pse_type": pse_type}
        out, top, total = attention(q, k, v, 0.3, mode, CAUSAL if mode else None, **bias)
        named = {"query": q, "key": k, "value": v, "dy": dy, "attention": out, "softmax_max": top}
        return named | {"softmax_sum": total} | ({} if pse_type is None else {"pse": pse})

    return made


SHAPES = [(B, N, S, D), (B, KV, L, D), (B, KV, L, D), (B, N, S, D), (B, N, S, L)]


def gradients(query, key, value, dy, attention, softmax_max, softmax_sum, mode, pse=None, pse_type=1):
    """The formula itself: of the forward's results, which are arguments, the output was rounded to the dtype."""
    group = query.shape[1] // key.shape[1]
    k, v = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    scores = scored(query, k, 0.3, pse, pse_type)
    if (off := hidden(mode, CAUSAL if mode else None, *scores.shape[2:])) is not None:
        scores = scores.masked_fill(off, float("-inf"))
    p = (scores - softmax_max[..., :1]).exp() / softmax_sum[..., :1]
    raw = p * (dy @ v.mT - (dy * attention).sum(-1, keepdim=True))
    ds = raw * 0.3
    dk, dv = (t.unflatten(1, (-1, group)).sum(2) for t in (ds.mT @ query, p.mT @ dy))
    return ds @ k, dk, dv, None if pse is None else ds if pse_type == 1 else raw


def grad(mode, pse_type=None):
    bias = {} if pse_type is None else {"pse_type": pse_type}
    made = consistent(mode, pse_type)(torch.Generator().manual_seed(3))
    names = ["query", "key", "value"] + ["pse"] * (pse_type is not None)
    leaves = {n: made[n].requires_grad_() for n in names}
    q, k, v = (leaves[n] for n in names[:3])
    result = attention(q, k, v, 0.3, mode, CAUSAL if mode else None, pse=leaves.get("pse"), **bias)[0]
    by_autograd = torch.autograd.grad(result, list(leaves.values()), made["dy"])
    made = {n: t.detach() for n, t in made.items()}
    for formula, derived in zip(gradients(**made, mode=mode, **bias), by_autograd, strict=False):
        torch.testing.assert_close(formula, derived)

    def oracle(query, key, value, dy, attention, softmax_max, softmax_sum):
        return gradients(query, key, value, dy, attention, softmax_max, softmax_sum, mode)

    def oracle_with_bias(query, key, value, dy, attention, softmax_max, softmax_sum, pse):
        return gradients(query, key, value, dy, attention, softmax_max, softmax_sum, mode, pse, pse_type)

    def fixed(name, dtype=None):
        return T(values=lambda _: made[name].float().contiguous(), dtype=dtype)

    values = {n: fixed(n) for n in ("query", "key", "value", "dy", "attention", *names[3:])}
    values |= {n: T(values=lambda _, n=n: made[n].float().contiguous(), dtype=torch.float32) for n in STATISTICS}
    values = {"softmax": None, **COMMON, "sparse_mode": mode} | values
    values |= {"atten_mask": T(values=lambda _: CAUSAL, dtype=torch.bool)} if mode else {}
    told = oracle if pse_type is None else oracle_with_bias
    if pse_type != 0:
        case("aclnnFlashAttentionScoreGrad", told, HALF, layouts=("plain", "transposed"), **values)
    case("aclnnFlashAttentionScoreGradV2", told, HALF, layouts=("plain",), q_start_idx=[],
         kv_start_idx=[], pse_type=1 if pse_type is None else pse_type, **values)  # fmt: skip


for mode in (0, 2, 3):
    grad(mode)
for pse_type in (0, 1):
    grad(0, pse_type)
