# SPDX-License-Identifier: Apache-2.0
"""Cases of a mixture of experts: which experts a token goes to, its way there and back."""

import torch
from case import T, case

KINDS = [torch.float32, torch.float16, torch.bfloat16]
TOKENS, EXPERTS, K, HIDDEN = 9, 8, 3, 5
I32, I64, F32, I8 = torch.int32, torch.int64, torch.float32, torch.int8
WHOLE = {"layouts": ("plain", "transposed", "sliced")}


def fixed(make, dtype):
    """What `make` draws, in its own type."""
    return T(1, values=lambda g: make(g).to(dtype), dtype=dtype)


def choices(generator):
    return torch.stack([torch.randperm(EXPERTS, generator=generator)[:K] for _ in range(TOKENS)])


# ---- gating


def distinct(*shape):
    """Scores whose order no rounding changes."""

    def make(generator):
        return torch.stack([torch.randperm(shape[-1], generator=generator) for _ in range(shape[0])]) / 8 - 1

    return T(*shape, values=lambda g: make(g).reshape(shape))


def gating_softmax(x, finished, k, renorm, softmax_flag):
    norm = x.softmax(-1)
    y, chosen = (x if renorm else norm).topk(k, -1)
    y = y.softmax(-1) if renorm else y
    chosen = chosen.int() if finished is None else chosen.int().masked_fill(finished[..., None], x.shape[-1])
    return y, chosen, norm if softmax_flag else None


def gating_first(x, finished, k):
    y, chosen, _ = gating_softmax(x, finished, k, 0, False)
    return y, chosen, torch.arange(TOKENS * k).view(k, -1).T.reshape(y.shape).int()


def gating(x, bias, k, k_group, group_count, group_select_mode, norm_type, routed_scaling_factor, eps):
    norm = torch.sigmoid(x) if norm_type else x.softmax(-1)
    scores = norm if bias is None else norm + bias
    groups = scores.view(len(x), group_count, -1)
    best = groups.topk(group_select_mode + 1, -1).values.sum(-1).topk(k_group, -1).indices
    kept = torch.zeros(len(x), group_count, dtype=torch.bool).scatter(1, best, True)
    chosen = torch.where(kept[..., None], groups, -torch.inf).flatten(1).topk(k, -1).indices
    return chosen_of(norm, chosen, norm_type, routed_scaling_factor, eps)


def chosen_of(norm, chosen, norm_type, factor, eps):
    y = norm.gather(1, chosen.long())
    return (y / (y.sum(-1, keepdim=True) + eps) if norm_type else y) * factor, chosen.int(), norm


def by_table(x, input_ids, tid2eid, norm_type, routed_scaling_factor, eps):
    norm = torch.sigmoid(x) if norm_type else x.softmax(-1)
    return chosen_of(norm, tid2eid[input_ids.long()], norm_type, routed_scaling_factor, eps)


def gating_gradient(x_norm, grad_y, expert_idx, routed_scaling_factor, eps):
    x = torch.logit(x_norm).requires_grad_()
    with torch.enable_grad():
        y = chosen_of(torch.sigmoid(x), expert_idx, 1, routed_scaling_factor, eps)[0]
        return torch.autograd.grad(y, x, grad_y)[0]


for x, finished, layouts in (
    (distinct(TOKENS, EXPERTS), None, WHOLE["layouts"]),
    (distinct(TOKENS, EXPERTS), T(TOKENS, dtype=torch.bool), WHOLE["layouts"]),
    (T(3, 3, EXPERTS, values=lambda g: distinct(TOKENS, EXPERTS).make(g, F32).view(3, 3, -1)), None, WHOLE["layouts"]),
):
    case("aclnnMoeGatingTopKSoftmax", gating_first, KINDS, x=x, finished=finished, k=K, layouts=layouts)
    for renorm, flag in ((0, False), (0, True), (1, False)):
        case("aclnnMoeGatingTopKSoftmaxV2", gating_softmax, KINDS, x=x, finished=finished, k=K, renorm=renorm,
             softmax_flag=flag, layouts=layouts, out_dtypes={"softmax_result": F32})  # fmt: skip
scaled = {"routed_scaling_factor": 2.5, "eps": 1e-20, "renorm": 0, "out_flag": True, "out_dtypes": {"out": F32}} | WHOLE
for norm_type in (0, 1):
    for groups, kept, mode, bias in ((1, 1, 0, None), (4, 2, 0, None), (4, 2, 1, T(EXPERTS)), (2, 1, 1, None)):
        case("aclnnMoeGatingTopK", gating, KINDS, x=distinct(TOKENS, EXPERTS), bias=bias, k=K, k_group=kept,
             group_count=groups, group_select_mode=mode, norm_type=norm_type, **scaled)  # fmt: skip
    table = fixed(lambda g: torch.stack([torch.randperm(EXPERTS, generator=g)[:K] for _ in range(4)]), I32)
    ids = fixed(lambda g: torch.randint(0, 4, (TOKENS,), generator=g), I64)
    case("aclnnMoeGatingTopKV2", by_table, KINDS, x=T(TOKENS, EXPERTS), bias=None, input_ids=ids, tid2eid=table, k=K,
         k_group=1, group_count=1, group_select_mode=0, norm_type=norm_type, **scaled)  # fmt: skip
case("aclnnMoeGatingTopKBackward", gating_gradient, KINDS, x_norm=T(TOKENS, EXPERTS, low=0.1, high=0.9, dtype=F32),
     grad_y=T(TOKENS, K), expert_idx=fixed(choices, I32), renorm=0, norm_type=1, routed_scaling_factor=2.5, eps=1e-3,
     out_dtypes={"out": None}, **WHOLE)  # fmt: skip

# ---- to the experts


def routing_sorted(x, row_idx, expert_idx, active_num):
    order = expert_idx.flatten().argsort(stable=True)
    rows = row_idx.flatten()[order]
    where = torch.zeros_like(rows)
    where[rows.long()] = torch.arange(len(rows)).int()
    return x[rows.long() % len(x)][: active_num * K], where, expert_idx.flatten()[order]


case("aclnnMoeInitRouting", routing_sorted, KINDS, x=T(TOKENS, HIDDEN), expert_idx=fixed(choices, I32),
     row_idx=fixed(lambda _: torch.arange(TOKENS * K).view(K, -1).T, I32), active_num=4, **WHOLE)  # fmt: skip


def placed(expert_idx, first, last, capacity=None):
    """The slot of each row, in order; without one -1."""
    flat = expert_idx.flatten()
    slots = [[s for s in range(len(flat)) if flat[s] == e] for e in range(first, last)]
    if capacity is not None:
        slots = [(s + [-1] * capacity)[:capacity] for s in slots]
    return [s for of_expert in slots for s in of_expert]


def counts_of(expert_idx, first, last):
    return torch.stack([(expert_idx == e).sum() for e in range(first, last)])


def quantised(rows, experts, scale, offset, mode):
    """Whole numbers and the scale of each row."""
    if mode < 0:
        return rows, None
    scale = torch.ones(1, 1) if scale is None else scale.view(len(scale), -1)
    made = rows * scale[experts if len(scale) > 1 else 0]
    if mode == 0:
        moved = made + (0 if offset is None else offset.view(len(offset), -1)[0])
        return moved.round().clamp(-128, 127).to(I8), None
    step = made.abs().amax(1) / 127
    return (made / torch.where(step == 0, 1, step)[:, None]).round().clamp(-128, 127).to(I8), step


def expanded(x, expert_idx, first, last, capacity, limit, scale=None, offset=None, mode=-1):
    slots = torch.tensor(placed(expert_idx, first, last, capacity))
    where = torch.full((expert_idx.numel(),), -1, dtype=I32)
    for row, slot in enumerate(slots.tolist()):
        if slot >= 0:
            where[slot] = row
    rows = x[slots.clamp(min=0) // K] * (slots >= 0)[:, None]
    experts = expert_idx.flatten()[slots.clamp(min=0)].long() - first
    made, steps = quantised(rows, experts, scale, offset, mode)
    made = made * (slots >= 0)[:, None].to(made.dtype)  # also where an offset would move the padding
    size = (capacity * (last - first) if capacity else expert_idx.numel()) if limit is None else limit
    spare = torch.zeros(max(size - len(made), 0), x.shape[1], dtype=made.dtype)
    steps = None if steps is None else torch.cat([steps, torch.zeros(len(spare), dtype=steps.dtype)])[:size]
    return torch.cat([made, spare])[:size].to(made.dtype), where, steps, slots


def tokens_of(expert_idx, form, first=0, last=EXPERTS):
    counts = counts_of(expert_idx, first, last)
    return {0: None, 1: counts.cumsum(0), 2: counts}[form]


def routing(x, expert_idx, active_num, drop_pad_mode, expert_tokens_num, expert_capacity, scale=None, offset=None,
            quant_mode=-1):  # fmt: skip
    limit = active_num if active_num > 0 and not drop_pad_mode else None
    capacity = expert_capacity if drop_pad_mode else None
    made, where, steps, _ = expanded(x, expert_idx, 0, EXPERTS, capacity, limit, scale, offset, quant_mode)
    made = made.view(EXPERTS, capacity, -1) if drop_pad_mode else made
    number = None if drop_pad_mode else tokens_of(expert_idx, expert_tokens_num)
    before = tokens_of(expert_idx, 2) if drop_pad_mode else None
    return made, where, number if number is None else number.int(), before if before is None else before.int(), steps


def routing_plain(x, expert_idx, active_num, drop_pad_mode, expert_tokens_num, expert_capacity):
    return routing(x, expert_idx, active_num, drop_pad_mode, expert_tokens_num, expert_capacity)[:4]


def routing_quantised(x, expert_idx, scale, offset, active_num, drop_pad_mode, expert_tokens_num, expert_capacity,
                      quant_mode):  # fmt: skip
    return routing(x, expert_idx, active_num, drop_pad_mode, expert_tokens_num, expert_capacity, scale, offset,
                   quant_mode)  # fmt: skip


chosen = {"x": T(TOKENS, HIDDEN), "expert_idx": fixed(choices, I32), "expert_num": EXPERTS} | WHOLE
for active, pad, form in ((0, 0, 0), (10, 0, 1), (0, 0, 2), (0, 1, 0)):
    modes = {"active_num": active, "expert_capacity": 3 if pad else 0, "drop_pad_mode": pad, "expert_tokens_num": form,
             "before_capacity_flag": bool(pad)} | chosen  # fmt: skip
    case("aclnnMoeInitRoutingV2", routing_plain, KINDS, **modes)
    for mode, scale, offset in (
        (0, T(1, low=20, high=40, dtype=F32), T(1, dtype=F32)),
        (1, None, None),
        (1, T(EXPERTS, HIDDEN, dtype=F32), None),
        (1, T(1, HIDDEN, dtype=F32), None),
    ):
        case("aclnnMoeInitRoutingQuantV2", routing_quantised, KINDS, scale=scale, offset=offset, quant_mode=mode,
             out_dtypes={"expanded_scale": F32, "expanded_x": I8}, **modes)  # fmt: skip


def routing_of_range(x, expert_idx, scale, expert_tokens_num_type, quant_mode, active_expert_range, row_idx_type):
    first, last = active_expert_range
    made, where, steps, slots = expanded(x, expert_idx, first, last, None, None, scale, None, quant_mode)
    if row_idx_type:
        key = torch.where(expert_idx.flatten() < first, 1 << 30, expert_idx.flatten())
        where = key.argsort(stable=True).int()
    if scale is not None and quant_mode < 0:
        steps = torch.cat([scale[slots // K], torch.zeros(len(where) - len(slots), dtype=scale.dtype)])
    counts = counts_of(expert_idx, first, last)
    if expert_tokens_num_type == 2:
        pairs = [(first + e, int(c)) for e, c in enumerate(counts) if c > 0]
        counts = torch.tensor(pairs + [(0, 0)] * (EXPERTS - len(pairs)))
    return made, where, counts.cumsum(0) if expert_tokens_num_type == 0 else counts, steps


for span in ([0, EXPERTS], [2, 6]):
    for kind, rows, mode, scale in ((0, 0, -1, None), (1, 1, -1, T(TOKENS, dtype=F32)), (2, 0, 1, None),
                                    (1, 0, 1, T(span[1] - span[0], HIDDEN, dtype=F32))):  # fmt: skip
        case("aclnnMoeInitRoutingV3", routing_of_range, KINDS if mode >= 0 else [*KINDS, I8], scale=scale, offset=None,
             active_num=-1, expert_capacity=-1, drop_pad_mode=0, expert_tokens_num_type=kind, quant_mode=mode,
             expert_tokens_num_flag=True, active_expert_range=span, row_idx_type=rows,
             out_dtypes={"expanded_scale": F32} | ({"expanded_x": I8} if mode >= 0 else {}), **chosen)  # fmt: skip

# ---- and back


def finalize(rows, row_idx, skip1, skip2, bias, scales, expert_idx, mode):
    k = scales.shape[1] if scales is not None else K
    where = row_idx.view(-1, k) if mode >= 2 else row_idx.view(k, -1).T
    flat = torch.cat([rows.flatten(0, -2), rows.new_zeros(1, rows.shape[-1])])
    terms = flat[where.long()]
    terms = terms if bias is None else terms + bias[expert_idx.long()]
    made = (terms if scales is None else terms * scales[..., None]).sum(1)
    return made + sum(s for s in (skip1, skip2) if s is not None)


def finalize_later(rows, row_idx, skip1, skip2, bias, scales, expert_idx, drop_pad_mode):
    return finalize(rows, row_idx, skip1, skip2, bias, scales, expert_idx, drop_pad_mode)


def finalize_first(rows, row_idx, skip1, skip2, bias, scales, expert_idx):
    return finalize(rows, row_idx, skip1, skip2, bias, scales, expert_idx, 0)


where = fixed(lambda g: torch.randperm(TOKENS * K, generator=g), I32)
dropped = fixed(lambda g: torch.randperm(TOKENS * K, generator=g) - 6, I32)  # some at -1 and below: of no row
skip = T(TOKENS, HIDDEN)
full = {"rows": T(TOKENS * K, HIDDEN), "bias": T(EXPERTS, HIDDEN), "scales": T(TOKENS, K),
        "expert_idx": fixed(choices, I32), "row_idx": where, "terms": "absolute"} | WHOLE  # fmt: skip
case("aclnnMoeFinalizeRouting", finalize_first, KINDS, skip1=skip, skip2=skip, **full)
case("aclnnMoeFinalizeRouting", finalize_first, KINDS, skip1=skip, skip2=None, **(full | {"bias": None}))
NOT_BUILT = {"unpermuted": None, "alpha1": None, "alpha2": None, "constant": None, "zero_experts": None,
             "copy_experts": None, "constant_experts": None, "k": K}  # fmt: skip
for mode, more in ((0, {}), (2, {}), (2, {"bias": None, "expert_idx": None}),
                   (1, {"rows": T(7, 3, HIDDEN), "bias": None, "row_idx": fixed(
                        lambda g: torch.randperm(TOKENS * K, generator=g).clamp(max=21) % 22 - 1, I32)}),
                   (3, {"rows": T(7, 3, HIDDEN), "bias": None, "layouts": ("plain",), "row_idx": fixed(
                        lambda g: torch.randperm(TOKENS * K, generator=g).clamp(max=21) % 22 - 1, I32)})):  # fmt: skip
    values = full | more | {"skip1": skip if mode == 2 else None, "skip2": None, "drop_pad_mode": mode}
    values["layouts"] = WHOLE["layouts"] if mode in (0, 2) else ("plain",)
    case("aclnnMoeFinalizeRoutingV2", finalize_later, KINDS, **values)
    case("aclnnMoeFinalizeRoutingV4", finalize_later, KINDS, **values, **NOT_BUILT)

# ---- tables


def re_routed(tokens, counts, scales, expert_token_num_type):
    ranks, experts = counts.shape
    begin = (counts.flatten().cumsum(0) - counts.flatten()).view(ranks, experts).tolist()
    source = [begin[r][e] + i for e in range(experts) for r in range(ranks) for i in range(int(counts[r, e]))]
    totals = counts.sum(0)
    totals = totals if expert_token_num_type else totals.cumsum(0)
    order = torch.tensor(source)
    return tokens[order], None if scales is None else scales[order], order.int(), totals.to(counts.dtype)


per_rank = torch.tensor([[2, 0, 3], [1, 4, 2]])
for scales in (None, T(12, dtype=F32)):
    for kind, whole in ((1, I32), (0, I64)):
        case("aclnnMoeReRouting", re_routed, [*KINDS, I8], tokens=T(12, HIDDEN), scales=scales, idx_type=0,
             counts=fixed(lambda _: per_rank, whole), expert_token_num_type=kind, out_dtypes={"out_scales": F32},
             **WHOLE)  # fmt: skip
case("aclnnMoeComputeExpertTokens", lambda sorted, num_expert: sorted.bincount(minlength=num_expert).cumsum(0).int(),
     [I32], sorted=fixed(lambda g: torch.randint(0, 4, (20,), generator=g).sort().values, I32), num_expert=6,
     **WHOLE)  # fmt: skip


def updated(expert_ids, eplb_table, scales, threshold, active, local_rank_id, world_size, balance_mode):
    made = torch.empty_like(expert_ids)
    for t, j in torch.cartesian_prod(torch.arange(TOKENS), torch.arange(K)).tolist():
        copies = int(eplb_table[expert_ids[t, j], 0])
        copy = t % copies if balance_mode else local_rank_id // -(-world_size // copies)
        made[t, j] = eplb_table[expert_ids[t, j], 1 + copy]
    if scales is None:
        return made, None
    kept = scales >= threshold.view(-1) * scales.sum(1, keepdim=True)
    return made, kept & (True if active is None else active[:, None])


copies = fixed(lambda g: torch.cat([torch.randint(1, 4, (EXPERTS, 1), generator=g),
                                    torch.randint(0, 4, (EXPERTS, 3), generator=g)], 1), I32)  # fmt: skip
for mode in (0, 1):
    for scales, active in ((None, None), (T(TOKENS, K, low=0, high=1), None),
                           (T(TOKENS, K, low=0, high=1), T(TOKENS, dtype=torch.bool))):  # fmt: skip
        case("aclnnMoeUpdateExpert", updated, KINDS, expert_ids=fixed(choices, I64 if mode else I32), eplb_table=copies,
             scales=scales, threshold=scales and T(1, K, low=0.1, high=0.4, dtype=F32), active=active, local_rank_id=2,
             world_size=4, balance_mode=mode, **WHOLE)  # fmt: skip

# ---- by a map of tokens and experts


def on_map(generator):
    return torch.zeros(TOKENS, EXPERTS, dtype=torch.bool).scatter(1, choices(generator), True)


def layout(map, padded, rows):
    """For each row its token and expert, and the table that says where slots lie or whose rows are."""
    if padded:
        capacity = rows // EXPERTS
        tokens = map.T.to(I8).sort(dim=-1, descending=True, stable=True).indices[:, :capacity].flatten()
        return tokens, torch.arange(EXPERTS).repeat_interleave(capacity), tokens.int()
    experts, tokens = map.T.nonzero(as_tuple=True)
    return tokens, experts, tokens.argsort(stable=True).int()


def permuted(tokens, map, probs, num_out_tokens, padded):
    owners, experts, table = layout(map, padded, num_out_tokens)
    return tokens[owners], None if probs is None else probs[owners, experts], table


def permuted_gradient(grad, grad_probs, map, padded):
    owners, experts, _ = layout(map, padded, len(grad))
    tokens = grad.new_zeros(TOKENS, HIDDEN).index_add(0, owners, grad)
    if grad_probs is None:
        return tokens, None
    return tokens, grad_probs.new_zeros(TOKENS, EXPERTS).index_put((owners, experts), grad_probs, accumulate=True)


def unpermuted(tokens, map, probs, padded):
    owners, experts, table = layout(map, padded, len(tokens))
    shares = None if probs is None else probs[owners, experts]
    rows = tokens if probs is None else tokens * shares[:, None]
    made = tokens.new_zeros(TOKENS, HIDDEN).index_add(0, owners, rows)
    return made, *terms(table, padded, len(tokens)), shares


def terms(table, padded, rows):
    """Row and token of each term of the sums."""
    if padded:
        ids, order = table.sort(stable=True)
        return order.int(), ids
    return table, torch.arange(rows).int() // K


def unpermuted_gradient(grad, map, tokens, probs, padded):
    leaves = [tokens.clone().requires_grad_()] + ([] if probs is None else [probs.clone().requires_grad_()])
    with torch.enable_grad():
        made = unpermuted(leaves[0], map, None if probs is None else leaves[1], padded)[0]
        return (*torch.autograd.grad(made, leaves, grad), None)[:2]


def drawn_map():
    return on_map(torch.Generator().manual_seed(5))


for padded, rows in ((False, TOKENS * K), (True, EXPERTS * 4)):
    where = fixed(lambda _, padded=padded, rows=rows: layout(drawn_map(), padded, rows)[2], I32)
    out_index, token_id = (
        fixed(
            lambda _, padded=padded, rows=rows, i=i: terms(layout(drawn_map(), padded, rows)[2], padded, rows)[i], I32
        )
        for i in (0, 1)
    )
    for kind in (torch.bool, I8):
        common = {"map": fixed(lambda _: drawn_map(), kind), "padded": padded, "terms": None} | WHOLE
        rows_of, shares = T(rows, HIDDEN), T(TOKENS, EXPERTS)
        for probs in (None, shares):
            case("aclnnMoeTokenPermuteWithRoutingMap", permuted, KINDS, tokens=T(TOKENS, HIDDEN), probs=probs,
                 num_out_tokens=rows, **common)  # fmt: skip
            case("aclnnMoeTokenPermuteWithRoutingMapGrad", permuted_gradient, KINDS, grad=rows_of, sorted=where,
                 grad_probs=probs and T(rows), experts_num=EXPERTS, tokens_num=TOKENS, **common)  # fmt: skip
            case("aclnnMoeTokenUnpermuteWithRoutingMap", unpermuted, KINDS, tokens=rows_of, sorted=where, probs=probs,
                 restore_shape=[TOKENS, HIDDEN], **common)  # fmt: skip
            case("aclnnMoeTokenUnpermuteWithRoutingMapGrad", unpermuted_gradient, KINDS, grad=T(TOKENS, HIDDEN),
                 out_index=out_index, token_id=token_id, tokens=rows_of, probs=probs,
                 restore_shape=[TOKENS, HIDDEN], **common)  # fmt: skip
