# SPDX-License-Identifier: Apache-2.0
"""Cases of products of quantised matrices: what is summed is whole, so the oracle's sums are exact."""

import torch
from case import HALF, T, case, unpacked

F32, I8, I32, I64 = torch.float32, torch.int8, torch.int32, torch.int64
M, K, N = 5, 96, 40
BYTES = {"low": -128, "high": 128, "dtype": I8}
PACKED = {"low": -(2**31), "high": 2**31 - 1, "dtype": I32}


def word(scale, offset=None):
    """Scale and offset in the 64 bits of npu_trans_quant_param."""
    bits = (scale.view(I32).long() & 0xFFFFE000) | (1 << 46)
    return bits if offset is None else bits | (offset.round().long() & 0x1FF) << 37


def scale_words(n, offset):
    def make(generator):
        scale = torch.rand(n, generator=generator) / 500 + 1e-3
        return word(scale, torch.randint(-90, 90, (n,), generator=generator).float() if offset else None)

    return T(values=make, dtype=I64)


def numbers(t, transpose):
    t = t.long() if t.dtype == I8 else unpacked(t)
    return t.mT if transpose else t


def product(x1, x2, x1_scale, x2_scale, x2_offset, bias, transpose_x1, transpose_x2, kind):
    # int32 holds neighbours of a row: those of a transposed matrix are unpacked before it is turned.
    sums = numbers(x1, transpose_x1) @ numbers(x2, transpose_x2)
    if bias is not None and bias.dtype == I32:
        sums = sums + bias
    if kind == I32:
        return sums.int()
    words = x2_scale.dtype == I64
    scale = (x2_scale & 0xFFFFE000).int().view(F32).double() if words else x2_scale
    value = sums.double() * scale * (1 if x1_scale is None else x1_scale.reshape(-1, 1))
    if bias is not None and bias.dtype != I32:
        value = value + bias
    if kind != I8:
        return value
    shift = (x2_scale >> 37 & 0x1FF) if words else None
    shift = torch.where(shift > 255, shift - 512, shift) if words and shift.any() else x2_offset
    return value if shift is None else value + shift.round()  # the matrix unit keeps 9 bits of it


def quantised(kind, x1, x2, x2_scale, x1_scale=None, x2_offset=None, bias=None, turned=(False, False), **options):
    """The three functions with what each of them names."""
    common = {"x1": x1, "x2": x2, "bias": bias, "transpose_x1": turned[0], "transpose_x2": turned[1],
              "dtypes": [kind if kind in HALF else HALF[0]], **options}  # fmt: skip
    settings = {"whole": {"out": I8}} if kind == I8 else {"out_dtypes": {"out": kind}}
    common |= settings | {"layouts": options.get("layouts", ("plain", "transposed") if kind != I8 else ("plain",))}

    def v5(x1, x2, x1_scale, x2_scale, x2_offset, bias):
        return product(x1, x2, x1_scale, x2_scale, x2_offset, bias, *turned, kind)

    def v4(x1, x2, pertoken_scale, scale, offset, bias):
        return v5(x1, x2, pertoken_scale, scale, offset, bias)

    def v3(x1, x2, scale, offset, bias):
        return v5(x1, x2, None, scale, offset, bias)

    empty = dict.fromkeys(("y_scale", "x1_offset", "y_offset"))
    for name in ("aclnnQuantMatmulV5", "aclnnQuantMatmulWeightNz"):
        if x2.dtype == I8 or name.endswith("V5"):  # 4-bit weights do not lie in blocks
            case(name, v5, x1_scale=x1_scale, x2_scale=x2_scale, x2_offset=x2_offset, group_size=0, **empty,
                 **common)  # fmt: skip
    case("aclnnQuantMatmulV4", v4, pertoken_scale=x1_scale, scale=x2_scale, offset=x2_offset, **common)
    if x1_scale is None:
        case("aclnnQuantMatmulV3", v3, scale=x2_scale, offset=x2_offset, **common)


A, B = T(M, K, **BYTES), T(K, N, **BYTES)
WHOLE, SCALE = T(N, low=-3000, high=3000, dtype=I32), T(N, low=1e-3, high=3e-3, dtype=F32)
for bias in (None, WHOLE):
    for n in (1, N):
        quantised(torch.float16, A, B, scale_words(n, False), bias=bias)
        quantised(I8, A, B, scale_words(n, True), bias=bias)
    quantised(I8, A, B, scale_words(N, False), x2_offset=T(N, low=-50, high=50, dtype=F32), bias=bias)
    quantised(I32, A, B, SCALE, bias=bias)
for kind in HALF:
    for bias in (None, WHOLE, T(N, dtype=F32), T(N, dtype=kind)):
        for rows in (None, T(M, low=0.5, high=2, dtype=F32)):
            quantised(kind, A, B, SCALE, x1_scale=rows, bias=bias)
quantised(torch.bfloat16, A, B, T(N, dtype=torch.bfloat16))
# Batches that broadcast, with a bias for each; matrices that are turned; more than one tile and more than one slice.
quantised(torch.bfloat16, T(3, M, K, **BYTES), T(1, K, N, **BYTES), SCALE, bias=T(3, 1, N, dtype=I32))
quantised(torch.bfloat16, T(2, 1, M, K, **BYTES), T(3, K, N, **BYTES), T(1, dtype=F32), layouts=("plain",))
quantised(torch.float16, T(K, M, **BYTES), T(N, K, **BYTES), SCALE, x1_scale=T(M, 1, dtype=F32), turned=(True, True))
quantised(I32, T(270, 2100, low=127, high=128, dtype=I8), T(2100, 530, low=-128, high=-127, dtype=I8), T(1, dtype=F32),
          bias=T(530, dtype=I32), layouts=("plain", "transposed"))  # fmt: skip
# 4-bit numbers, eight in an int32.
X4, W4 = T(M, K // 8, **PACKED), T(K, N // 8, **PACKED)
quantised(torch.float16, X4, W4, scale_words(N, False), layouts=("plain",))
for kind in HALF:
    quantised(kind, X4, W4, SCALE, x1_scale=T(M, dtype=F32), layouts=("plain",))
    quantised(kind, X4, T(N, K // 8, **PACKED), SCALE, x1_scale=T(M, dtype=F32), turned=(False, True),
              layouts=("plain",))  # fmt: skip


def grouped(x1, x2, x1_scale, x2_scale, x2_offset):
    rows = 32
    weight = unpacked(x2) - (0 if x2_offset is None else x2_offset.repeat_interleave(rows, 0)[:K])
    return unpacked(x1).double() @ (weight * x2_scale.repeat_interleave(rows, 0)[:K]) * x1_scale


def grouped_terms(x1, x2, x1_scale, x2_scale, x2_offset):
    offset = 0 if x2_offset is None else x2_offset.abs().repeat_interleave(32, 0)[:K]
    weight = (unpacked(x2).abs() + offset) * x2_scale.abs().repeat_interleave(32, 0)[:K]
    return unpacked(x1).double().abs() @ weight * x1_scale.abs()


for kind in HALF:
    for asymmetric in (False, True):
        shifts = None if not asymmetric else T(
            values=lambda g: torch.randint(-7, 8, (3, N), generator=g).half(), dtype=torch.float16)  # fmt: skip
        case("aclnnQuantMatmulV5", grouped, [kind], x1=X4, x2=W4, x1_scale=T(M, 1, dtype=F32),
             x2_scale=T(3, N, dtype=F32), x2_offset=shifts, bias=None, y_scale=None, x1_offset=None, y_offset=None,
             transpose_x1=False, transpose_x2=False, group_size=(1 << 32) + (1 << 16) + 32, layouts=("plain",),
             out_dtypes={"out": kind}, terms=grouped_terms)  # fmt: skip
