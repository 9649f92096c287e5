# SPDX-License-Identifier: Apache-2.0
"""Cases of quantised products with a collective, and of products beside an all_to_all, on a communicator of one rank.
What ranks do together is in tests/collective/test_fused_quantised.py."""

import torch
from case import HALF, T, case
from describe_collective import SIZES, hcom

F32, I8, I32, I64 = torch.float32, torch.int8, torch.int32, torch.int64
BYTES = {"low": -128, "high": 128, "dtype": I8}
FIXED = {"hcom": hcom, "reduce_op": "sum", "comm_turn": 0, "stream_mode": 1}


def words(n):
    def make(generator):
        scale = torch.rand(n, generator=generator) / 500 + 1e-3
        return (scale.view(I32).long() & 0xFFFFE000) | (1 << 46)

    return T(values=make, dtype=I64)


def part(x1, x2, bias, x3, dequant_scale, pertoken_scale=None):
    sums = x1.long() @ x2.long() + (0 if bias is None else bias)
    read = dequant_scale
    if read.dtype == I64:
        read = (read & 0xFFFFE000).int().view(F32).double()
    rows = 1 if pertoken_scale is None else pertoken_scale.reshape(*x1.shape[:-1], 1)
    return sums.double() * read * rows + (0 if x3 is None else x3)


def terms(x1, x2, bias, x3, dequant_scale, pertoken_scale=None):
    given = [None if t is None else t.abs() for t in (bias, x3)]
    return part(x1.long().abs(), x2.long().abs(), *given, dequant_scale, pertoken_scale)


def one_scale(x1, x2, bias, x3, dequant_scale):
    return part(x1, x2, bias, x3, dequant_scale)


def one_scale_terms(x1, x2, bias, x3, dequant_scale):
    return terms(x1, x2, bias, x3, dequant_scale)


def two_scales(x1, x2, bias, x3, dequant_scale, pertoken_scale):
    return part(x1, x2, bias, x3, dequant_scale, pertoken_scale)


def two_scales_terms(x1, x2, bias, x3, dequant_scale, pertoken_scale):
    return terms(x1, x2, bias, x3, dequant_scale, pertoken_scale)


for shape, n in (((5, 96), 40), ((2, 3, 33), 8), ((260, 1100), 270)):
    common = {"x1": T(*shape, **BYTES), "x2": T(shape[-1], n, **BYTES), **FIXED}
    common["layouts"] = ("plain", "transposed") if len(shape) == 2 else ("plain",)
    rows = T(torch.Size(shape[:-1]).numel(), low=0.5, high=2, dtype=F32)
    for bias in (None, T(n, low=-3000, high=3000, dtype=I32)):
        for x3 in (None, T(*shape[:-1], n)):
            for kind in HALF:
                scale = T(n, low=1e-3, high=3e-3, dtype=F32 if kind == torch.float16 else kind)
                outs = {"dtypes": [kind], "out_dtypes": {"result": kind}, "bias": bias, "x3": x3}
                case(
                    "aclnnQuantMatmulAllReduce", one_scale, terms=one_scale_terms, dequant_scale=scale, **outs, **common
                )
                for given in (None, rows):
                    more = {"dequant_scale": scale, "pertoken_scale": given, "terms": two_scales_terms}
                    case("aclnnQuantMatmulAllReduceV2", two_scales, **more, **outs, **common)
                    more |= {"comm_quant_scale_1": None, "comm_quant_scale_2": None}
                    case("aclnnQuantMatmulAllReduceV3", two_scales, **more, **outs, **common)
            for scale in (words(n), words(1), T(1, low=1e-3, high=3e-3, dtype=F32)):
                case("aclnnQuantMatmulAllReduce", one_scale, [torch.float16], terms=one_scale_terms, bias=bias, x3=x3,
                     dequant_scale=scale, out_dtypes={"result": torch.float16}, **common)  # fmt: skip


def spread(grid, rows, inner):
    if grid.numel() == 1 or not rows:
        return grid.reshape(-1)
    return grid.repeat_interleave(rows, 0)[:inner]


def weighted(rows):
    def oracle(x1, x2, bias, antiquant_scale, antiquant_offset, x3):
        shift = 0 if antiquant_offset is None else spread(antiquant_offset, rows, len(x2))
        value = x1 @ ((x2 + shift) * spread(antiquant_scale, rows, len(x2)))
        return value + (0 if bias is None else bias) + (0 if x3 is None else x3)

    def sizes(x1, x2, **others):
        return oracle(x1.abs(), x2.double().abs(), **{n: None if v is None else v.abs() for n, v in others.items()})

    def named(x1, x2, bias, antiquant_scale, antiquant_offset, x3):
        return sizes(x1, x2, bias=bias, antiquant_scale=antiquant_scale, antiquant_offset=antiquant_offset, x3=x3)

    return oracle, named


for shape, n in (((5, 70), 40), ((2, 3, 96), 48), ((17, 40), 530)):
    for grid, rows in (((1,), 0), ((n,), 0), ((1, n), 0), ((-(-shape[-1] // 32), n), 32)):
        oracle, named = weighted(rows)
        for shifted in (False, True):
            for bias in (None, T(n)):
                for x3 in (None, T(*shape[:-1], n)):
                    common = {"x1": T(*shape), "x2": T(shape[-1], n, **BYTES), "bias": bias, "x3": x3,
                              "antiquant_scale": T(*grid, low=1e-3, high=3e-3), "antiquant_group_size": rows,
                              "antiquant_offset": T(*grid) if shifted else None, "layouts": ("plain", "transposed"),
                              "terms": named, **FIXED}  # fmt: skip
                    case("aclnnWeightQuantMatmulAllReduce", oracle, HALF, **common)
                    case("aclnnWeightQuantMatmulAllReduceV2", oracle, HALF, comm_mode="aiv", **common)


def product(x1, x2, bias, turn):
    return x1 @ (x2.mT if turn else x2) + (0 if bias is None else bias)


def exchanges(turn):
    def kept(x1, x2, bias):
        return product(x1, x2, bias, turn), x1

    def alone(x1, x2, bias):
        return product(x1, x2, bias, turn), None

    def computed(x1, x2, bias):
        return product(x1, x2, bias, turn)

    return kept, alone, computed


for x1, x2 in SIZES:
    for bias in (None, T(x2[-1]), T(x2[-1], dtype=F32)):
        for turn in (False, True):
            kept, alone, computed = exchanges(turn)
            common = {"x1": T(*x1), "x2": T(*(reversed(x2) if turn else x2)), "bias": bias, "group": hcom,
                      "transpose_x1": False, "transpose_x2": turn, "dtypes": HALF, "terms": "absolute"}  # fmt: skip
            for axes, oracle in ((None, kept), ([-2, -1], alone)):
                case("aclnnAlltoAllMatmul", oracle, all2all_axes=axes, **common)
                case("aclnnAlltoAllMatmulV2", oracle, all2all_axes=axes, comm_mode="ai_cpu", **common)
            case("aclnnMatmulAlltoAll", computed, all2all_axes=None, **common)
            case("aclnnMatmulAlltoAllV2", computed, all2all_axes=[-1, -2], comm_mode="aiv", **common)
