# SPDX-License-Identifier: Apache-2.0
"""Cases of attention over sequences that lie one behind the other (layout TND). The oracle takes one after the other,
with the whole matrix of scores in float64; its gradients are held to torch's autograd where the cases are made."""

import inspect

import torch
from case import FUNCTIONS, T, case

HALF = [torch.float32, torch.float16, torch.bfloat16]
N, KV, D, E, R = 4, 2, 8, 6, 4
# One of more than a tile of queries and keys, one without queries, one cut off; rows behind the last belong to none.
Q_ENDS, K_ENDS, TQ, TK = [3, 73, 73, 78, 0], [9, 309, 314, 320, 0], 80, 322
UNMASKED = {"mode": 0, "mask": None, "pre": 1 << 31, "after": 1 << 31, "prefix": []}


def sequences(q_ends, k_ends):
    """Index and ranges of each that is not left out."""
    starts = zip([0, *q_ends], [0, *k_ends], q_ends, k_ends, strict=False)
    return [(i, slice(a, c), slice(b, d)) for i, (a, b, c, d) in enumerate(starts) if c >= a and d >= b]


def hidden(index, used, q, k, mode, mask, pre, after, prefix):
    """Where scores are masked, as documented of npu_fusion_attention: nowhere without a mask."""
    i, j = torch.arange(q).unsqueeze(1), torch.arange(k)
    if mask is None:
        return torch.zeros(q, k).bool()
    corner = j - (k - q)  # counted from the bottom right corner
    band = (corner > i + after) | (corner < i - pre)
    if mode == 0:
        return mask[:q, :k].bool() | (j > i + after) | (j < i - pre)
    if mode in (1, 5):
        return mask[:q, :k].bool()
    if mode == 4 or (mode == 7 and index == used[-1]) or (mode == 8 and index == used[0]):
        return band
    if mode == 6:
        return (corner > i) & (j >= prefix[index])
    return j.expand(q, k) > i if mode in (2, 8) else corner.expand(q, k) > i


def one(q, k, v, scale, off, bias=0, keep=None, keep_prob=1.0, sink=None):
    """Of one sequence [N, S, D]: result, maximum and sum of its softmax."""
    k, v = (t.repeat_interleave(N // KV, 0) for t in (k, v))
    scores = (scale * (q @ k.mT + bias)).masked_fill(off, float("-inf"))
    if sink is not None:
        scores = torch.cat([sink.view(-1, 1, 1).expand(-1, q.shape[1], 1), scores], -1)
    top = scores.amax(-1, keepdim=True)
    e = (scores - top).exp()
    total = e.sum(-1, keepdim=True)
    p = (e / total)[..., 0 if sink is None else 1 :]
    return (p if keep is None else p * keep / keep_prob) @ v, top, total


def gradients_of_one(q, k, v, dy, out, top, total, scale, off, keep=None, keep_prob=1.0, sink=None):
    k, v = (t.repeat_interleave(N // KV, 0) for t in (k, v))
    p = ((scale * (q @ k.mT)).masked_fill(off, float("-inf")) - top).exp() / total
    drop = 1 if keep is None else keep / keep_prob
    delta = (dy * out).sum(-1, keepdim=True)
    ds = p * (dy @ v.mT * drop - delta) * scale
    dk, dv = (t.unflatten(0, (-1, N // KV)).sum(1) for t in (ds.mT @ q, (p * drop).mT @ dy))
    dsink = None if sink is None else -((sink.view(-1, 1, 1) - top).exp() / total * delta).sum((1, 2))
    return ds @ k, dk, dv, dsink


def statistics(parts, rows, layout):
    """[T, N, 8]: as TND, or each sequence as a block [N, S, 8]."""
    parts = [t.expand(*t.shape[:2], 8) for t in parts]
    flat = torch.cat([(t.transpose(0, 1) if layout else t).reshape(-1) for t in parts])
    return torch.nn.functional.pad(flat, (0, rows * N * 8 - len(flat))).view(rows, N, 8)


def bits(mask):
    return torch.stack([(mask >> i) & 1 for i in range(8)], -1).flatten().double()


class Packed:
    """One set of options: what each oracle needs to know of them."""

    def __init__(self, q_ends=Q_ENDS, k_ends=K_ENDS, tq=TQ, tk=TK, layout="", rope=False, slopes=None, **mask):
        self.ranges = sequences(q_ends, k_ends)
        self.used = [i for i, a, _ in self.ranges if a.stop > a.start]
        self.rows, self.layout, self.rope, self.slopes, self.mask = (tq, tk), layout, rope, slopes, UNMASKED | mask

    def parts(self, query, key, value, drop_mask=None, query_rope=None, key_rope=None):
        """Of each sequence: q, k, v as [N, S, D], what is hidden, its bias and what dropout keeps."""
        first = 0
        if self.rope:
            query, key = torch.cat([query, query_rope], -1), torch.cat([key, key_rope], -1)
        for index, a, b in self.ranges:
            q, k, v = query[a].transpose(0, 1), key[b].transpose(0, 1), value[b].transpose(0, 1)
            shape = (N, q.shape[1], k.shape[1])
            off = hidden(index, self.used, *shape[1:], **self.mask)
            bias = 0
            if self.slopes is not None:
                distance = torch.arange(shape[2]) - torch.arange(shape[1]).unsqueeze(1)
                bias = self.slopes.view(-1, 1, 1) * distance
            keep = None
            if drop_mask is not None:
                count = torch.Size(shape).numel()
                keep = bits(drop_mask)[first : first + count].view(shape)
                first += count
            yield a, b, (q, k, v, off, bias, keep)

    def forward(self, query, key, value, scale, keep_prob, drop_mask=None, sink=None, query_rope=None, key_rope=None):
        out = torch.zeros(self.rows[0], N, value.shape[-1], dtype=torch.float64)
        tops, totals = [], []
        for a, _, (q, k, v, off, bias, keep) in self.parts(query, key, value, drop_mask, query_rope, key_rope):
            if q.shape[1] > 0:
                y, top, total = one(q, k, v, scale, off, bias, keep, keep_prob, sink)
                out[a] = y.transpose(0, 1)
                tops.append(top)
                totals.append(total)
        return statistics(tops, self.rows[0], self.layout), statistics(totals, self.rows[0], self.layout), None, out

    def saved(self, flat):
        """A statistic [T, N, 8] as one [N, S, 1] a sequence."""
        for _, a, _ in self.ranges:
            size = a.stop - a.start
            if self.layout:
                yield flat[a].transpose(0, 1)[..., :1]
            else:
                yield flat.reshape(-1, 8)[a.start * N : a.stop * N].view(N, size, 8)[..., :1]

    def backward(self, query, key, value, dy, attention, softmax_max, softmax_sum, scale, keep_prob, drop_mask=None,
                 sink=None, query_rope=None, key_rope=None):  # fmt: skip
        deep = query.shape[-1] + (R if self.rope else 0)
        dq, dk = (torch.zeros(r, n, deep, dtype=torch.float64) for r, n in zip(self.rows, (N, KV), strict=True))
        dv, dsink = torch.zeros(value.shape, dtype=torch.float64), torch.zeros(N, dtype=torch.float64)
        parts = self.parts(query, key, value, drop_mask, query_rope, key_rope)
        for (a, b, (q, k, v, off, _, keep)), top, total in zip(
            parts, self.saved(softmax_max), self.saved(softmax_sum), strict=True
        ):
            given = dy[a].transpose(0, 1), attention[a].transpose(0, 1), top, total
            *made, of_sink = gradients_of_one(q, k, v, *given, scale, off, keep, keep_prob, sink)
            for whole, rows, part in zip((dq, dk, dv), (a, b, b), made, strict=True):
                whole[rows] = part.transpose(0, 1)
            dsink += 0 if of_sink is None else of_sink
        split = {"dq": dq[..., :D], "dq_rope": dq[..., D:], "dk": dk[..., :D], "dk_rope": dk[..., D:], "dv": dv}
        given = {"dq_rope": self.rope, "dk_rope": self.rope}
        return {n: t for n, t in split.items() if given.get(n, True)} | ({} if sink is None else {"dsink": dsink})


MODES = {"mode": "sparse_mode", "mask": "atten_mask", "pre": "pre_tokens", "after": "next_tokens", "prefix": "prefix"}
BLANK = {
    "pse": None, "drop_mask": None, "padding_mask": None, "atten_mask": None, "sink": None, "prefix": [],
    "q_start_idx": None, "kv_start_idx": None, "scale": 0.3, "keep_prob": 1.0, "pre_tokens": 1 << 31,
    "next_tokens": 1 << 31, "head_num": N, "input_layout": "TND", "inner_precise": 0, "sparse_mode": 0, "pse_type": 1,
    "query_rope": None, "key_rope": None, "softmax_layout": "",
}  # fmt: skip
STATISTICS = {"softmax_max": torch.float32, "softmax_sum": torch.float32}


def values_of(made, options, packed):
    mask = {MODES[n]: v for n, v in packed.mask.items()}
    if isinstance(packed.mask["mask"], torch.Tensor):
        mask["atten_mask"] = T(values=lambda _: packed.mask["mask"], dtype=packed.mask["mask"].dtype)
    return BLANK | {"softmax_layout": packed.layout} | mask | made | options


def only(oracle, names, results=None):
    """The oracle, which is asked for what these cases give and for nothing else; `results` are those of a function."""

    def asked(**values):
        made = oracle(**values)
        return made if results is None else tuple(made.get(n) for n in results)

    asked.__signature__ = inspect.Signature([inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in names])
    return asked


def forward(names, options=(), tq=TQ, tk=TK, q_ends=Q_ENDS, k_ends=K_ENDS, layouts=("plain",), **settings):
    options = dict(options)
    packed = Packed(q_ends, k_ends, tq, tk, **settings)
    made = {"query": T(tq, N, D), "key": T(tk, KV, D), "value": T(tk, KV, E)}
    made |= {"query_rope": T(tq, N, R), "key_rope": T(tk, KV, R)} if packed.rope else {}
    made |= {"actual_seq_qlen": q_ends, "actual_seq_kvlen": k_ends}
    asked = ["query", "key", "value", "scale", "keep_prob", *(n for n in ("drop_mask", "sink") if n in options)]
    asked += ["query_rope", "key_rope"] if packed.rope else []
    for name in names:
        case(f"aclnnFlashAttentionVarLenScore{name}", only(packed.forward, asked), HALF, layouts=layouts,
             out_dtypes=STATISTICS, **values_of(made, options, packed))  # fmt: skip


def exact(generator, *shape):
    """Numbers that every dtype under test holds."""
    return (torch.rand(shape, generator=generator, dtype=torch.float64) * 2 - 1).bfloat16().double()


def backward(names, options=(), layouts=("plain",), **settings):
    """The forward's results, which are arguments, are made here in float64."""
    options, packed, g = dict(options), Packed(**settings), torch.Generator().manual_seed(3)
    made = {"query": exact(g, TQ, N, D), "key": exact(g, TK, KV, D), "value": exact(g, TK, KV, E)}
    made |= {"query_rope": exact(g, TQ, N, R), "key_rope": exact(g, TK, KV, R)} if packed.rope else {}
    made |= {"sink": exact(g, N)} if options.pop("sink", False) else {}
    drop = {n: options.pop(n) for n in ("drop_mask",) if n in options}
    numbers = {"scale": 0.3, "keep_prob": options.get("keep_prob", 1.0)}
    dy = exact(g, TQ, N, E)
    leaves = {n: t.clone().requires_grad_() for n, t in made.items()}
    top, total, _, out = packed.forward(**leaves, **drop, **numbers)
    results = {"dy": dy, "attention": out.detach(), "softmax_max": top.detach(), "softmax_sum": total.detach()}
    derived = dict(zip(leaves, torch.autograd.grad(out, list(leaves.values()), dy), strict=True))
    formula = packed.backward(**made, **results, **drop, **numbers)
    of = {"query": "dq", "query_rope": "dq_rope", "key": "dk", "key_rope": "dk_rope", "value": "dv", "sink": "dsink"}
    for name, gradient in derived.items():
        torch.testing.assert_close(formula[of[name]], gradient)
    wide = (*STATISTICS, "sink")
    given = {n: T(values=lambda _, t=t: t.float().contiguous(), dtype=torch.float32 if n in wide else None)
             for n, t in (made | results).items()}  # fmt: skip
    given |= {n: T(values=lambda _, t=t: t, dtype=t.dtype) for n, t in drop.items()}
    given |= {"softmax": None, "actual_seq_qlen": Q_ENDS, "actual_seq_kvlen": K_ENDS}
    asked = [*made, *results, *drop, *numbers]
    for name in names:
        results = [a.name for a in FUNCTIONS[f"aclnnFlashAttentionUnpaddingScoreGrad{name}"] if a.role == "out"]
        case(f"aclnnFlashAttentionUnpaddingScoreGrad{name}", only(packed.backward, asked, results), HALF,
             layouts=layouts, out_dtypes={"dsink": torch.float32}, **values_of(given, options, packed))  # fmt: skip


CAUSAL = torch.ones(2048, 2048).triu(1).bool()
ANY = torch.rand(70, 300, generator=torch.Generator().manual_seed(1)) < 0.3
ANY[:, 0] = False  # a key is left to every query
BITS = torch.randint(0, 256, (N * 24000 // 8,), generator=torch.Generator().manual_seed(2)).to(torch.uint8)
DROPPED = {"drop_mask": BITS, "keep_prob": 0.5}
GIVEN_BITS = {"drop_mask": T(values=lambda _: BITS, dtype=torch.uint8), "keep_prob": 0.5}
SINK = {"sink": T(N, dtype=torch.float32)}
STRIDED = ("plain", "transposed", "sliced")

forward(["", "V2"])
forward(["V4"], layout="same_as_input", layouts=STRIDED)
forward(["V3", "V5"], rope=True)
forward(["V5"], SINK, layout="TND", layouts=STRIDED)
forward([""], GIVEN_BITS)
backward(["", "V2", "V4"])
backward(["V4"], layout="same_as_input", layouts=STRIDED)
backward(["V3", "V5"], rope=True)
backward(["V5"], {"sink": True} | DROPPED, mask=CAUSAL, mode=3)
backward([""], DROPPED)
for settings in (
    {"mode": 0, "mask": ANY, "pre": 250, "after": 40},
    {"mode": 1, "mask": ANY.to(torch.uint8)},
    {"mode": 2, "mask": CAUSAL},
    {"mode": 3, "mask": CAUSAL},
    {"mode": 4, "mask": CAUSAL, "pre": 100, "after": -1},
    {"mode": 6, "mask": CAUSAL, "prefix": [4, 250, 0, 1, 0]},
    {"mode": 7, "mask": CAUSAL, "pre": 20, "after": 0},
    {"mode": 8, "mask": CAUSAL, "pre": 20, "after": -1},
    {"mode": 3},
):
    forward([""], **settings)
    backward([""], **settings)


def in_batch(given, **mask):
    """The same oracles for sequences of one length, which are rows of a batch: layout BSND."""
    lengths = {"query": 70, "key": 90, "value": 90, "dy": 70, "attention": 70}
    ends = [[S * (i + 1) for i in range(3)] for S in (70, 90)]
    packed, g = Packed(*ends, tq=210, tk=270, **mask), torch.Generator().manual_seed(4)
    made = {"query": exact(g, 210, N, D), "key": exact(g, 270, KV, D), "value": exact(g, 270, KV, E), **given}
    numbers = {"scale": 0.3, "keep_prob": 1.0}
    top, total, _, out = packed.forward(**made, **numbers)
    saved = {"attention": out, "softmax_max": top, "softmax_sum": total}

    def rows(name, t):
        return t.view(3, N, 70, 8) if name in STATISTICS else t.unflatten(0, (3, -1)) if name in lengths else t

    def flat(values):
        flat_rows = {n: v.reshape(-1, N, 8) if n in STATISTICS else v.flatten(0, 1) if n in lengths else v
                     for n, v in values.items()}  # fmt: skip
        return flat_rows | numbers

    def forward_rows(**values):
        top, total, _, out = packed.forward(**flat(values))
        return rows("softmax_max", top), rows("softmax_sum", total), None, rows("query", out)

    def backward_rows(**values):
        return {n: rows("query", t) if n != "dsink" else t for n, t in packed.backward(**flat(values)).items()}

    def specified(values):
        wide = (*STATISTICS, "sink")
        return {n: T(values=lambda _, n=n, t=t: rows(n, t).float().contiguous(),
                     dtype=torch.float32 if n in wide else None) for n, t in values.items()}  # fmt: skip

    blank = {"input_layout": "BSND", "softmax": None}
    case("aclnnFlashAttentionScoreV3", only(forward_rows, list(made)), HALF, layouts=STRIDED, out_dtypes=STATISTICS,
         **values_of(specified(made), blank, packed))  # fmt: skip
    made |= saved | {"dy": exact(g, 210, N, E)}
    results = [a.name for a in FUNCTIONS["aclnnFlashAttentionScoreGradV3"] if a.role == "out"]
    case("aclnnFlashAttentionScoreGradV3", only(backward_rows, list(made), results), HALF, layouts=STRIDED,
         out_dtypes={"dsink": torch.float32}, **values_of(specified(made), blank, packed))  # fmt: skip


in_batch({})
in_batch({"sink": exact(torch.Generator().manual_seed(5), N)}, mode=3, mask=CAUSAL)
in_batch({}, mode=4, mask=CAUSAL, pre=60, after=-3)
in_batch({}, mode=5, mask=ANY[:70, :90])
in_batch({}, mode=6, mask=CAUSAL, prefix=[4, 60, 0])


def alibi(count, pse_slopes=(0.5, 0.25, 0.125, 0.0625), long=70):
    """The last 1,024 rows of a bias by distance."""
    slopes = torch.tensor(pse_slopes, dtype=torch.float64)
    distance = torch.arange(long) - (torch.arange(1024) + long - 1024).unsqueeze(1)
    whole = (slopes.view(-1, 1, 1) * distance).expand(count, -1, -1, -1)
    return slopes, {"pse": T(values=lambda _: whole.float().contiguous())}


SLOPES, PSE = alibi(1)
SQUARE = {"q_ends": [5, 75, 80], "k_ends": [5, 75, 80], "tq": 80, "tk": 80}
forward(["V2"], PSE, **SQUARE, slopes=SLOPES, mode=3, mask=CAUSAL)
forward(["V2"], alibi(3)[1], **SQUARE, slopes=SLOPES, mode=2, mask=CAUSAL)
