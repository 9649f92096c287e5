# SPDX-License-Identifier: Apache-2.0
"""Cases of products of experts: rows of x that belong to a group by the weight of that group."""

import torch
from case import T, case

KINDS = [torch.float32, torch.float16, torch.bfloat16]
HALVES = [torch.float16, torch.bfloat16]
G, K, N = 3, 12, 5
SIZES = [3, 0, 8]
TOTAL = sum(SIZES)
SMALL = {"terms": "absolute"}
WHOLE = ("plain", "transposed", "sliced")  # layouts in which a list says what it should


def numbers(values, dtype=torch.int64):
    return T(len(values), values=lambda _: torch.tensor(values, dtype=dtype), dtype=dtype)


def ends(sizes=SIZES):
    return numbers(torch.tensor(sizes).cumsum(0).tolist())


def sizes_of(group_list, kind):
    if kind == 2:
        return [int((group_list[:, 1] * (group_list[:, 0] == g)).sum()) for g in range(len(group_list))]
    return (group_list if kind else torch.diff(group_list, prepend=group_list.new_zeros(1))).tolist()


def products(x, weight, bias, sizes):
    """x[rows of g] @ weight[g] + bias[g]; rows that belong to no group are zero."""
    parts = x.split([*sizes, len(x) - sum(sizes)])
    made = [a @ w for a, w in zip(parts, weight, strict=False)]
    made = made if not bias else [m + b for m, b in zip(made, bias, strict=True)]
    return torch.cat([*made, parts[-1].new_zeros(len(parts[-1]), weight[0].shape[-1])])


def by_group(x, weight, bias, group_list, group_list_type, split_item):
    """All the arrangements of groups of rows."""
    weight = list(weight[0]) if len(weight) == 1 and weight[0].dim() == 3 else weight
    bias = bias and (list(bias[0]) if len(bias) == 1 and len(weight) > 1 else bias)
    sizes = [len(a) for a in x] if len(x) > 1 or group_list is None else sizes_of(group_list, group_list_type)
    made = products(torch.cat(x), weight, bias, sizes)
    return ([made] if split_item >= 2 else list(made.split(sizes)), None, None)


def by_ends(x, weight, bias, ends, split_item):
    if not ends and len(x) > 1 and split_item < 2:
        made = [a @ w for a, w in zip(x, weight, strict=True)]
        return made if not bias else [m + b for m, b in zip(made, bias, strict=True)]
    return by_group(x, weight, bias, ends and torch.tensor(ends), 0, split_item)[0]


def alone(x, weight, bias):
    made = [a @ w for a, w in zip(x, weight, strict=True)]
    return made if not bias else [m + b for m, b in zip(made, bias, strict=True)], None, None


def by_depth(x, weight, group_list, group_list_type, split_item):
    if len(weight) == 1:
        weight = weight[0].split(sizes_of(group_list, group_list_type))
    made = [a @ w for a, w in zip(x[0].split([len(w) for w in weight], 1), weight, strict=True)]
    return [torch.stack(made)] if split_item >= 2 else made, None, None


LEFT_OUT = {"scale": None, "offset": None, "antiquant_scale": None, "antiquant_offset": None}
LATER = {"per_token_scale": None, "activation_input": None, "activation_quant_scale": None,
         "activation_quant_offset": None, "group_list_type": 0, "act_type": 0, "tuning_config": None}  # fmt: skip


def grouped(oracle, kinds, **values):
    for name in ("aclnnGroupedMatmulV4", "aclnnGroupedMatmulV5"):
        case(name, oracle, kinds, **(LEFT_OUT | LATER | {"bias": None} | values))
    # 4-bit weights, eight in an int32, do not lie in blocks.
    if values["weight"][0].dtype != torch.int32:
        case("aclnnGroupedMatmulWeightNz", oracle, kinds, quant_group_size=0,
             **(LEFT_OUT | LATER | {"bias": None} | values))  # fmt: skip


F32 = torch.float32
one, many = [T(G, K, N)], [T(K, N) for _ in range(G)]
rows, lists = [T(TOTAL, K)], [T(s, K) for s in SIZES]
one_bias, many_bias = [T(G, N, dtype=F32)], [T(N, dtype=F32) for _ in range(G)]

for x, weight, bias, listed, kind, split in (
    (rows, one, one_bias, ends(), 0, 3),
    (rows, one, None, numbers([3, 0, 5]), 1, 2),  # three rows of no group
    (rows, many, many_bias, numbers(SIZES), 1, 2),
    (rows, many, None, ends(), 0, 1),
    (lists, many, many_bias, ends(), 0, 3),
    (lists, one, None, None, 0, 0),
):
    grouped(by_group, KINDS, x=x, weight=weight, bias=bias, group_list=listed, group_list_type=kind, split_item=split,
            group_type=0, layouts=WHOLE if len(weight) > 1 else (*WHOLE, "expanded"), **SMALL)  # fmt: skip
# Many tiles, groups of one row and of many.
grouped(by_group, KINDS, x=[T(310, 70)], weight=[T(4, 70, 420)], group_list=numbers([1, 300, 0, 9]), group_list_type=1,
        split_item=3, group_type=0, layouts=("plain", "transposed"), **SMALL)  # fmt: skip
grouped(alone, KINDS, x=[T(2, 3, 4, K), T(3, 1, 2, K)], weight=many[:2], bias=many_bias[:2], group_list=None,
        split_item=0, group_type=-1, **SMALL)  # fmt: skip
for weight, listed, split in (([T(TOTAL, N)], ends(), 3), ([T(s, N) for s in SIZES], None, 0)):
    grouped(by_depth, KINDS, x=[T(6, TOTAL)], weight=weight, group_list=listed, split_item=split, group_type=2,
            layouts=WHOLE, **SMALL)  # fmt: skip

for x, weight, listed, split in (
    (rows, many, [3, 3, 11], 0),
    (rows, many, [3, 3, 11], 3),
    (lists, many, [], 0),
    (lists, many, None, 2),
    ([T(2, 3, K), T(4, 1, K), T(1, 1, K)], many, None, 1),
):
    case("aclnnGroupedMatmul", by_ends, KINDS, x=x, weight=weight, bias=many_bias, ends=listed, split_item=split,
         **LEFT_OUT, **SMALL)  # fmt: skip
    case("aclnnGroupedMatmulV2", by_ends, KINDS, x=x, weight=weight, bias=many_bias, ends=listed, split_item=split,
         group_type=-1 if len(x[0].shape) > 2 else 0, **LEFT_OUT, **SMALL)  # fmt: skip
for x, weight, listed, split in ((rows, one, ends(), 3), (rows, many, ends(), 1), (lists, many, ends(), 3)):
    case("aclnnGroupedMatmulV3", lambda x, weight, group_list, split_item: by_group(
         x, weight, None, group_list, 0, split_item)[0], KINDS, x=x, weight=weight, bias=None, group_list=listed,
         split_item=split, group_type=0, layouts=WHOLE, **LEFT_OUT, **SMALL)  # fmt: skip


def added(x, weight, group_list, self, kind):
    sizes = sizes_of(group_list, kind)
    spare = [len(x) - sum(sizes)]
    made = [a.T @ w for a, w in zip(x.split(sizes + spare), weight.split(sizes + spare), strict=True)][:-1]
    return self + torch.stack(made).reshape(self.shape)


for shape in ((G, K, N), (G * K, N)):
    common = {"x": T(TOTAL, K), "weight": T(TOTAL, N), "self": T(*shape, dtype=F32), "transpose_x": True,
              "transpose_weight": False, "group_type": 2} | SMALL  # fmt: skip
    case("aclnnGroupedMatmulAdd", lambda x, weight, group_list, self: added(x, weight, group_list, self, 0), HALVES,
         group_list=ends(), **common)  # fmt: skip
    case("aclnnGroupedMatmulAddV2", lambda x, weight, group_list, self: added(x, weight, group_list, self, 1), HALVES,
         group_list=numbers([3, 0, 6]), group_list_type=1, **common)  # fmt: skip

# ---- int8 by int8: sums are exact, so that only the scales round


def activated(x, kind):
    gates = {1: torch.relu, 2: lambda v: torch.nn.functional.gelu(v, approximate="tanh"),
             4: lambda v: v * torch.sigmoid(1.702 * v), 5: torch.nn.functional.silu}  # fmt: skip
    return gates[kind](x) if kind else x


def quantised(x, weight, bias, scale, per_token_scale, group_list, group_list_type, act_type):
    sizes = sizes_of(group_list, group_list_type)
    index = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
    whole = bias is not None and bias[0].dtype == torch.int32
    made = products(x[0].double(), list(weight[0].double()), list(bias[0].double()) if whole else None, sizes)
    made = made if scale is None else made * scale[0].double()[index]
    made = made if per_token_scale is None else made * per_token_scale[0][:, None]
    made = made if bias is None or whole else made + bias[0][index]
    made = activated(made, act_type)
    return [made if scale is not None else made.int()], None, None


def pack(scale, offset):
    bits = scale.float().view(torch.int32).long() & 0xFFFFFFFF
    return bits | (offset.long() & 0x1FF) << 37 | 1 << 46


def packed(x, weight, bias, scale, group_list):
    bits = scale[0]
    factor = (bits & 0xFFFFFFFF).to(torch.int32).view(torch.float32).double()
    offset = bits >> 37 & 0x1FF
    offset = torch.where(offset >= 256, offset - 512, offset).double()
    index = torch.arange(G).repeat_interleave(torch.tensor(sizes_of(group_list, 0)))
    made = products(x[0].double(), list(weight[0].double()), list(bias[0].double()), sizes_of(group_list, 0))
    return [(made * factor[index] + offset[index]).round().clamp(-128, 127).to(torch.int8)], None, None


DEEP = 1500  # more terms than float32 adds exactly at once, when they are large
I8, I32 = {"low": -128, "high": 128, "dtype": torch.int8}, {"low": -5000, "high": 5000, "dtype": torch.int32}
eights = {"x": [T(TOTAL, DEEP, **I8)], "weight": [T(G, DEEP, N, **I8)], "group_type": 0, "split_item": 3,
          "layouts": WHOLE}  # fmt: skip
pairs = T(G, 2, values=lambda _: torch.tensor([[2, 8], [0, 3], [1, 0]]), dtype=torch.int64)


def in_pairs(x, weight, bias, scale, per_token_scale, group_list, group_list_type, act_type):
    """Pairs say the order too: the first rows are those of the first pair."""
    order = group_list[:, 0]
    return quantised(x, [weight[0][order]], bias and [bias[0][order]], [scale[0][order]], per_token_scale,
                     group_list[:, 1], 1, act_type)  # fmt: skip


scales, tokens = [T(G, N, low=1e-4, high=2e-4, dtype=F32)], [T(TOTAL, low=0.5, high=1.5, dtype=F32)]
for act in (0, 1, 2, 4, 5):
    grouped(quantised, HALVES, **eights, bias=[T(G, N, **I32)], scale=scales, per_token_scale=tokens, group_list=ends(),
            act_type=act)  # fmt: skip
grouped(quantised, HALVES, **eights, bias=[T(G, N)], scale=[T(G, N, low=0.5, high=1, dtype=torch.bfloat16)],
        group_list=numbers(SIZES), group_list_type=1)  # fmt: skip
grouped(in_pairs, HALVES, **eights, bias=[T(G, N, **I32)], scale=scales, per_token_scale=tokens, group_list=pairs,
        group_list_type=2)  # fmt: skip
large = {"low": 100, "high": 128, "dtype": torch.int8}
grouped(quantised, [torch.int8], **(eights | {"x": [T(TOTAL, DEEP, **large)], "weight": [T(G, DEEP, N, **large)]}),
        bias=[T(G, N, **I32)], group_list=ends(), out_dtypes={"out": torch.int32})  # fmt: skip


def bits(generator):
    return pack(torch.rand(G, N, generator=generator) * 1e-3, torch.randint(-9, 9, (G, N), generator=generator))


grouped(packed, [torch.int8], **eights, bias=[T(G, N, **I32)], group_list=ends(), out_dtypes={"out": torch.int8},
        scale=[T(G, N, values=bits, dtype=torch.int64)])  # fmt: skip

# ---- weights of few bits


def dequantised(x, weight, bias, antiquant_scale, antiquant_offset, group_list):
    weight = weight[0]
    if weight.dtype == torch.int32:  # eight to a number, the first lowest, in two's complement
        nibbles = weight[..., None] >> torch.arange(0, 32, 4) & 15
        weight = torch.where(nibbles >= 8, nibbles - 16, nibbles).flatten(-2)
    parts = antiquant_scale[0] if antiquant_scale[0].dim() == 3 else antiquant_scale[0][:, None]
    moves = antiquant_offset[0].reshape(parts.shape) if antiquant_offset else torch.zeros_like(parts)
    repeat = weight.shape[1] // parts.shape[1]
    full = (weight.double() + moves.repeat_interleave(repeat, 1)) * parts.repeat_interleave(repeat, 1)
    return by_group(x, [full], bias, group_list, 0, 3)


scale, wide = {"low": 0.01, "high": 0.02}, 16
fours = T(G, 64, wide // 8, values=lambda g: torch.randint(-(2**31), 2**31 - 1, (G, 64, wide // 8), generator=g).int(),
          dtype=torch.int32)  # fmt: skip
few = {"x": [T(TOTAL, 64)], "group_list": ends(), "split_item": 2, "group_type": 0}
for offset in (None, [T(G, wide)]):
    grouped(dequantised, HALVES, weight=[T(G, 64, wide, **I8)], antiquant_scale=[T(G, wide, **scale)],
            antiquant_offset=offset, **few)  # fmt: skip
grouped(dequantised, HALVES, weight=[fours], bias=[T(G, wide)], antiquant_scale=[T(G, 4, wide, **scale)],
        antiquant_offset=[T(G, 4, wide)], layouts=("plain",), **few)  # fmt: skip
