# SPDX-License-Identifier: Apache-2.0
"""Cases of grouped products of int8 with what follows them: rows added to those of their tokens, or gated and quantised
again. The products are exact, so the oracles' sums are."""

import torch
from case import T, case

F32, I8, I64 = torch.float32, torch.int8, torch.int64
G, K, N, TOKENS = 3, 48, 32, 5
SIZES = [4, 0, 7]
TOTAL, ROWS = sum(SIZES), sum(SIZES) + 2  # the last two rows are of no group
BYTES = {"low": -128, "high": 128, "dtype": I8}
SCALE = {"low": 1e-3, "high": 3e-3, "dtype": F32}


def fixed(values, dtype=I64):
    return T(len(values), values=lambda _: torch.tensor(values, dtype=dtype), dtype=dtype)


def listed(kind):
    return fixed(SIZES if kind else torch.tensor(SIZES).cumsum(0).tolist())


def product(x, weight, scale, tokens):
    """float64 [rows, n], zeros where rows are of no group."""
    made = torch.zeros(len(x), weight.shape[2], dtype=torch.float64)
    begin = 0
    for g, size in enumerate(SIZES):
        rows = slice(begin, begin + size)
        made[rows] = (x[rows].double() @ weight[g].double()) * scale[g]
        begin += size
    return made if tokens is None else made * tokens[:, None]


def finalised(x, w, scale, pertoken_scale, shared_input, logit, row_index, shared_input_weight, shared_input_offset):
    made = product(x, w, scale, pertoken_scale) * (1 if logit is None else logit[:, None])
    out = torch.zeros(TOKENS, w.shape[2], dtype=torch.float64)
    out.index_add_(0, row_index[:TOTAL].long(), made[:TOTAL])
    if shared_input is not None:
        out[shared_input_offset : shared_input_offset + len(shared_input)] += shared_input_weight * shared_input
    return out


def terms(x, w, scale, pertoken_scale, shared_input, logit, row_index, shared_input_weight, shared_input_offset):
    def size(t):
        return None if t is None else t.abs()

    return finalised(x.long().abs(), w.long().abs(), size(scale), size(pertoken_scale), size(shared_input), size(logit),
                     row_index, abs(shared_input_weight), shared_input_offset)  # fmt: skip


VERSIONS = {"V2": ("offset", "antiquant_scale", "antiquant_offset"), "WeightNz": ()}
VERSIONS |= dict.fromkeys(("V3", "WeightNzV2"), (*VERSIONS["V2"], "tuning_config"))
# What follows the last group is not read: these numbers name no row.
PLACES = [0, 1, 2, 3, 3, 0, 4, 2, 1, 1, 0, -7, 99]

for version, more in VERSIONS.items():
    for kind, dtype in ((0, torch.int32), (1, I64)):
        for shared, logit in ((T(2, N, dtype=torch.bfloat16), T(ROWS, dtype=F32)), (None, None)):
            case(f"aclnnGroupedMatmulFinalizeRouting{version}", finalised, [F32], x=T(ROWS, K, **BYTES),
                 w=T(G, K, N, **BYTES), scale=T(G, N, **SCALE), bias=None, group_list=listed(kind), dtype=0,
                 pertoken_scale=T(ROWS, dtype=F32), shared_input=shared, logit=logit,
                 row_index=fixed(PLACES, dtype), shared_input_weight=0.5, shared_input_offset=3, transpose_x=False,
                 transpose_w=False, group_list_type=kind, layouts=("plain", "transposed"), out_dtypes={"out": F32},
                 terms=terms, **dict.fromkeys(more))  # fmt: skip


def gated(x, weight, weight_scale, x_scale):
    weight, weight_scale = (t[0] if isinstance(t, list) else t for t in (weight, weight_scale))
    left, right = product(x, weight, weight_scale, x_scale).chunk(2, -1)
    made = left * left.sigmoid() * right
    scale = made.abs().amax(-1) / 127
    return made / scale[:, None].where(scale[:, None] > 0, 1.0), scale


def gated_once(x, weight, weight_scale, x_scale):
    return *gated(x, weight, weight_scale, x_scale), None  # nothing is written to the offset


PLAIN = {"bias": None, "x": T(ROWS, K, **BYTES), "x_scale": T(ROWS, low=0.5, high=2, dtype=F32)}
WHOLE = {"whole": {"out": I8}, "out_dtypes": {"out_scale": F32}, "layouts": ("plain", "transposed")}
case("aclnnGroupedMatmulSwigluQuantWeightNZ", gated_once, [F32], weight=T(G, K, N, **BYTES), offset=None,
     weight_scale=T(G, N, **SCALE), group_list=listed(0), **PLAIN, **WHOLE)  # fmt: skip
for version in ("V2", "WeightNzV2"):
    for kind in (0, 1):
        case(f"aclnnGroupedMatmulSwigluQuant{version}", gated, [F32], weight=[T(G, K, N, **BYTES)],
             weight_scale=[T(G, N, **SCALE)], weight_assist_matrix=None, smooth_scale=None, group_list=listed(kind),
             dequant_mode=0, dequant_dtype=0, quant_mode=0, group_list_type=kind, tuning_config=None, **PLAIN,
             **WHOLE)  # fmt: skip
