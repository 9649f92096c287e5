# SPDX-License-Identifier: Apache-2.0
"""Cases of quantisation: by given scales, by the extremes of rows, back to floats, and as training sees it."""

import torch
from case import HALF, T, case, unpacked

F32, I8, I32, I64 = torch.float32, torch.int8, torch.int32, torch.int64
FLOATS = [F32, *HALF]
NUMBERS = {I8: 2, I32: 3, torch.uint8: 4, "int4": 3}  # what names the type of the output
ROUND = {"round": torch.round, "floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc}


def fixed(*rows, dtype=I32):
    """A tensor of given values in a given type."""
    return T(values=lambda generator: torch.tensor(rows, dtype=dtype), dtype=dtype)


def along(t, x, axis):
    """Numbers along an axis so that they broadcast to x."""
    if t is None or t.numel() == 1:
        return 0.0 if t is None else t.flatten()
    shape = [1] * x.dim()
    shape[axis] = -1
    return t.double().reshape(shape)


def quantised(x, scale, offset, sqrt_mode, axis=-1):
    factor = along(scale, x, axis)
    return x * factor * (factor if sqrt_mode else 1) + along(offset, x, axis)


def ascend(name, x, scale, offset=None, kind=I8, sqrt=False, mode="round", **options):
    # Other roundings have no middle: what they give is whole already.
    def oracle(x, scale, offset, sqrt_mode, axis):
        return ROUND[mode](quantised(x, scale, offset, sqrt_mode, axis)) if mode != "round" else quantised(
            x, scale, offset, sqrt_mode, axis)  # fmt: skip

    if "axis" not in options:

        def last(x, scale, offset, sqrt_mode):
            return oracle(x, scale, offset, sqrt_mode, -1)

    case(name, oracle if "axis" in options else last, FLOATS, x=x, scale=scale, offset=offset, sqrt_mode=sqrt,
         round_mode=mode, dst_type=NUMBERS[kind], whole={"y": kind}, **options)  # fmt: skip


WIDE = {"low": -40.0, "high": 40.0}
for name, options in (("aclnnAscendQuant", {}), ("aclnnAscendQuantV3", {"axis": -1})):
    ascend(name, T(5, 48, **WIDE), T(48), **options)
    ascend(name, T(3, 2, 48, **WIDE), T(1, 1, 48), T(1, 1, 48, low=-20, high=20), **options)
    ascend(name, T(5, 48, **WIDE), T(1), T(1), sqrt=True, **options)
    ascend(name, T(5, 48), T(48), T(48), kind="int4", **options)
    ascend(name, T(60, 3000, **WIDE), T(3000), layouts=("plain",), **options)
for mode in ("floor", "ceil", "trunc"):
    # Multiples of a quarter by powers of two: nothing is lost before the rounding.
    quarters = T(values=lambda g: torch.randint(-400, 400, (5, 16), generator=g) / 4)
    ascend("aclnnAscendQuant", quarters, fixed(0.5, dtype=F32), mode=mode)
ascend("aclnnAscendQuantV3", T(4, 5, 16, **WIDE), T(5), T(5), axis=-2)
ascend("aclnnAscendQuantV3", T(4, 5, 16), T(1, 5, 1), kind="int4", axis=-2)


def divided(x, scales, zero_points, axis):
    return x / along(scales, x, axis) + along(zero_points, x, axis)


for kind in (I8, torch.uint8, I32):
    for x, axis, n in ((T(6, 7, 5, **WIDE), 1, 7), (T(6, 7, **WIDE), 1, 7), (T(6, 7, 5, **WIDE), 0, 1),
                       (T(6, 7, 5, 3, **WIDE), 0, 6)):  # fmt: skip
        case("aclnnQuantize", divided, FLOATS, x=x, scales=T(n, low=0.2, high=2, dtype=F32),
             zero_points=T(n, low=-9, high=9, dtype=I32), dtype=kind, axis=axis, whole={"out": kind})  # fmt: skip
case("aclnnQuantize", divided, [torch.bfloat16], x=T(6, 7), scales=T(7, low=0.2, high=2), zero_points=None, dtype=I8,
     axis=-1, whole={"out": I8})  # fmt: skip


def grouped(x, scale, group_index, offset):
    out, start = torch.zeros_like(x), 0
    for row, end in zip(scale, group_index, strict=True):
        out[start:end] = x[start:end] * row + (0 if offset is None else offset)
        start = int(end)
    return out


for kind in (I8, "int4"):
    for ends in (I32, I64):
        case("aclnnGroupQuant", grouped, FLOATS, x=T(6, 24, **WIDE), scale=T(4, 24, dtype=F32),
             group_index=fixed(1, 4, 4, 6, dtype=ends), offset=T(1, dtype=F32) if kind == I8 else None,
             dst_type=NUMBERS[kind], layouts=("plain", "sliced"), whole={"y": kind})  # fmt: skip


def smoothed(x, smooth_scales, group_index=None):
    if smooth_scales is None or group_index is None:
        return x if smooth_scales is None else x * smooth_scales
    rows, start = x.reshape(-1, x.shape[-1]), 0
    for row, end in zip(smooth_scales, group_index, strict=True):
        rows[start:end] *= row
        start = int(end)
    return rows.reshape(x.shape)


def dynamic(high):
    def oracle(x, smooth_scales):
        values = smoothed(x, smooth_scales)
        scale = values.abs().amax(-1) / high
        return values / scale.unsqueeze(-1), scale

    return oracle


def symmetric(high):
    def oracle(x, smooth_scales, group_index):
        return (*dynamic(high)(smoothed(x, smooth_scales, group_index), None), None)

    return oracle


def asymmetric(low, high):
    def oracle(x, smooth_scales, group_index):
        values = smoothed(x, smooth_scales, group_index)
        top = values.amax(-1)
        scale = (top - values.amin(-1)) / (high - low)
        offset = high - top / scale
        return values / scale.unsqueeze(-1) + offset.unsqueeze(-1), scale, offset

    return oracle


def asymmetric_terms(low, high):
    def terms(x, smooth_scales, group_index):
        values = smoothed(x, smooth_scales, group_index)
        top, bottom = values.amax(-1), values.amin(-1)
        scale = (top.abs() + bottom.abs()) / (high - low)
        return values, scale, high + (top / (top - bottom)).abs() * (high - low)

    return terms


STATISTICS = {"scale": F32, "offset": F32}
for kind, low, high in ((I8, -128, 127), ("int4", -8, 7)):
    common = {"whole": {"y": kind}, "out_dtypes": STATISTICS}
    for x, smooth in ((T(5, 64), None), (T(2, 3, 64), T(64)), (T(40, 2048), T(2048))):
        case("aclnnDynamicQuant", dynamic(high), HALF, x=x, smooth_scales=smooth, **common)
        for oracle, terms in ((symmetric(high), None), (asymmetric(low, high), asymmetric_terms(low, high))):
            case("aclnnDynamicQuantV2", oracle, HALF, x=x, smooth_scales=smooth, group_index=None, terms=terms,
                 dst_type=NUMBERS[kind], **common)  # fmt: skip
    for oracle, terms in ((symmetric(high), None), (asymmetric(low, high), asymmetric_terms(low, high))):
        case("aclnnDynamicQuantV2", oracle, HALF, terms=terms, x=T(2, 3, 64), smooth_scales=T(3, 64),
             group_index=fixed(1, 1, 6), dst_type=NUMBERS[kind], layouts=("plain", "sliced"), **common)  # fmt: skip


def by_mode(mode, asymmetric_too):
    """Scales for the numbers of a column, or one for all."""
    axes = -2 if mode == "perchannel" else None

    def oracle(x, smooth_scales):
        values = x if smooth_scales is None else x * smooth_scales
        if asymmetric_too:
            top, bottom = (values.amax(axes), values.amin(axes)) if axes else (values.max(), values.min())
            scale = (top - bottom) / 255
            offset = 127 - top / scale
        else:
            scale = (values.abs().amax(axes) if axes else values.abs().max()) / 127
            offset = torch.zeros_like(scale)
        given = (t.unsqueeze(-2) if axes else t for t in (scale, offset))
        divisor, shift = given
        made = values / divisor + shift
        shape = scale.shape if axes else (1,)
        return made, scale.reshape(shape), offset.reshape(shape) if asymmetric_too else None

    return oracle


def magnitudes(mode):
    axes = -2 if mode == "perchannel" else None

    def terms(x, smooth_scales):
        values = x if smooth_scales is None else x * smooth_scales
        top, bottom = (values.amax(axes), values.amin(axes)) if axes else (values.max(), values.min())
        shape = top.shape if axes else (1,)
        scale, offset = (top.abs() + bottom.abs()) / 255, 127 + (top / (top - bottom)).abs() * 255
        return values, scale.reshape(shape), offset.reshape(shape)

    return terms


for mode in ("perchannel", "pertensor"):
    for version, more in (("V3", {}), ("V4", {"dst_type_max": 0.0})):
        for shape in ((5, 64), (2, 3, 48), (300, 20)):
            for smooth in (None, T(shape[-1])):
                for asymmetric_too in (False, True):
                    case(f"aclnnDynamicQuant{version}", by_mode(mode, asymmetric_too), HALF, x=T(*shape),
                         smooth_scales=smooth, group_index=None, dst_type=NUMBERS[I8], quant_mode=mode,
                         is_symmetrical=not asymmetric_too, whole={"y": I8}, out_dtypes=STATISTICS,
                         layouts=("plain", "transposed", "sliced"),
                         terms=magnitudes(mode) if asymmetric_too else None, **more)  # fmt: skip
for version, more in (("V3", {}), ("V4", {"dst_type_max": 0.0})):
    case(f"aclnnDynamicQuant{version}", symmetric(127), HALF, x=T(2, 3, 64), smooth_scales=T(64), group_index=None,
         dst_type=NUMBERS[I8], quant_mode="pertoken", is_symmetrical=True, whole={"y": I8}, out_dtypes=STATISTICS,
         **more)  # fmt: skip


def brought_back(x, scale, offset, sqrt_mode):
    numbers = unpacked(x) if x.dtype == I32 else x
    return (numbers + (0 if offset is None else offset)) * scale * (scale if sqrt_mode else 1)


for dst_type in HALF:
    bytes_, packed = T(5, 48, low=-128, high=128, dtype=I8), T(2, 3, 6, low=-(2**31), high=2**31 - 1, dtype=I32)
    for x, n in ((bytes_, 48), (bytes_, 1), (packed, 48)):
        for offset, sqrt in ((None, False), (T(n, dtype=F32), False), (T(n, dtype=F32), True)):
            case("aclnnAscendAntiQuant", brought_back, [dst_type], x=x, scale=T(n, dtype=F32), offset=offset,
                 dst_type=dst_type, sqrt_mode=sqrt, out_dtypes={"y": None}, layouts=("plain", "sliced"))  # fmt: skip


def dequantised(x, weight_scale, activate_scale, bias):
    whole = bias is not None and not bias.dtype.is_floating_point
    rows = 1 if activate_scale is None else activate_scale.unsqueeze(-1)
    value = (x + bias if whole else x) * weight_scale * rows
    return value if whole or bias is None else value + bias


for weight, kind, number in ((F32, torch.float16, 1), (torch.bfloat16, torch.bfloat16, 27)):
    for activate in (None, T(5, dtype=F32)):
        for bias in (None, T(48, low=-500, high=500, dtype=I32), T(48, dtype=F32), T(48, dtype=kind)):
            case("aclnnDequantBias", dequantised, [kind], x=T(5, 48, low=-900, high=900, dtype=I32),
                 weight_scale=T(48, dtype=weight), activate_scale=activate, bias=bias, output_dtype=number,
                 layouts=("plain", "transposed"), terms="absolute")  # fmt: skip


def per_tensor(self, scale, zero_point, quant_min, quant_max):
    # torch's own, in float32, where the reciprocal of the scale is rounded.
    enabled = torch.ones(1, dtype=torch.uint8)
    out, mask = torch.ops.aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
        self.float(), scale.float(), zero_point.int(), enabled, quant_min, quant_max)  # fmt: skip
    return out.double(), mask


def per_channel(self, scale, zero_point, axis, quant_min, quant_max):
    out, mask = torch.ops.aten.fake_quantize_per_channel_affine_cachemask(
        self.float(), scale.float(), zero_point.int(), axis, quant_min, quant_max)  # fmt: skip
    return out.double(), mask


FAKE = {"out_dtypes": {"out": None}}
for low, high in ((0, 255), (-128, 127)):
    case("aclnnFakeQuantPerTensorAffineCachemask", per_tensor, [F32, torch.float16], self=T(4, 6, 50, **WIDE),
         scale=T(1, low=0.1, high=0.3, dtype=F32), zero_point=T(1, low=3, high=9, dtype=I32), enabled=1.0,
         quant_min=low, quant_max=high, **FAKE)  # fmt: skip
    for axis, n in ((0, 4), (1, 6), (-1, 50)):
        case("aclnnFakeQuantPerChannelAffineCachemask", per_channel, [F32, torch.float16], self=T(4, 6, 50, **WIDE),
             scale=T(n, low=0.1, high=0.3, dtype=F32), zero_point=T(n, low=3, high=9, dtype=I32), axis=axis % 3,
             quant_min=low, quant_max=high, **FAKE)  # fmt: skip
case("aclnnFakeQuantPerTensorAffineCachemask", lambda self: (self, torch.ones(self.shape, dtype=torch.bool)),
     [F32, torch.float16], self=T(4, 50, **WIDE), scale=T(1, dtype=F32), zero_point=T(1, dtype=I32), enabled=0.0,
     quant_min=0, quant_max=255, **FAKE)  # fmt: skip


def words(rounded):
    def oracle(scale, offset):
        bits = scale.float().view(I32).long() & 0xFFFFFFFF
        if rounded:
            bits = (bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFFFFF
        word = (bits & 0xFFFFE000) | (1 << 46)
        if offset is None:
            return word
        return word | (offset.float().round().clamp(-256, 255).long() & 0x1FF) << 37

    return oracle


for shapes in (((33,), None), ((33,), (33,)), ((33,), (1,)), ((1,), (33,)), ((1, 33), (1, 33)), ((4, 8), None)):
    scale, offset = (None if s is None else T(*s, low=-300, high=300, dtype=F32) for s in shapes)
    options = {"scale": scale, "offset": offset, "layouts": ("plain",), "dtypes": [F32]}
    case("aclnnTransQuantParamV2", words(False), **options)
    for mode in (0, 1):
        case("aclnnTransQuantParamV3", words(mode == 1), round_mode=mode, **options)
