# SPDX-License-Identifier: Apache-2.0
"""Cases of quantisation behind RMS norm, SwiGLU and small products."""

import torch
import torch.nn.functional as F
from case import HALF, T, case

F32, I8, I32, I64 = torch.float32, torch.int8, torch.int32, torch.int64
EPS = 1e-5


def normalised(x, gamma, beta=None):
    rows = gamma.squeeze().shape if gamma.dim() > 1 and gamma.shape[0] == 1 else gamma.shape
    axes = list(range(-len(rows), 0))
    rstd = (x.square().mean(axes, keepdim=True) + EPS).rsqrt()
    y = x * rstd * gamma.reshape(rows)
    return (y if beta is None else y + beta.reshape(rows)), rstd


def by(y, scale, zero, divide):
    if scale is None:
        return torch.zeros_like(y)
    rows = scale.reshape(scale.shape[-1:]) if scale.numel() in (1, y.shape[-1]) else scale
    value = y / rows if divide else y * rows
    return value if zero is None else value + zero.reshape(rows.shape)


def add_norm(x1, x2, gamma, scales1, scales2, zero_points1, zero_points2, div_mode):
    y, _ = normalised(x1 + x2, gamma)
    return by(y, scales1, zero_points1, div_mode), by(y, scales2, zero_points2, div_mode), x1 + x2


def add_norm_with(x1, x2, gamma, scales1, scales2, zero_points1, zero_points2, beta, div_mode):
    y, _ = normalised(x1 + x2, gamma, beta)
    quantised = by(y, scales1, zero_points1, div_mode), by(y, scales2, zero_points2, div_mode)
    return *quantised, x1 + x2, y


SMALL = {"low": 0.01, "high": 0.05}
for shape, row in (((5, 64), (64,)), ((2, 3, 4, 16), (4, 16)), ((40, 2048), (2048,))):
    for kind, zero in ((F32, I32), (torch.bfloat16, torch.bfloat16)):
        for second in (None, T(*row, **SMALL, dtype=kind)):
            for div in (True, False):
                common = {
                    "x1": T(*shape), "x2": T(*shape), "gamma": T(*row), "scales2": second, "axis": -1, "epsilon": EPS,
                    "scales1": T(*row, **SMALL if div else {"low": 10, "high": 50}, dtype=kind),
                    "zero_points1": T(*row, low=-9, high=9, dtype=zero), "div_mode": div,
                    "zero_points2": None if second is None else T(*row, low=-9, high=9, dtype=zero),
                    "whole": {"y1": I8, "y2": I8}, "layouts": ("plain", "sliced") if len(row) == 1 else ("plain",),
                }  # fmt: skip
                case("aclnnAddRmsNormQuant", add_norm, HALF, **common)
                case("aclnnAddRmsNormQuantV2", add_norm_with, HALF, beta=T(*row), **common)


def norm_quant(x, gamma, beta, scale, offset):
    return by(normalised(x, gamma, beta)[0], scale, offset, True)


def norm_quant_rstd(x, gamma, scale, offset, beta, div_mode):
    y, rstd = normalised(x, gamma, beta)
    return by(y, scale, offset, div_mode), rstd


for x, gamma in (((5, 64), (64,)), ((2, 3, 64), (1, 64)), ((16,), (1, 16))):
    common = {"x": T(*x), "gamma": T(*gamma), "epsilon": EPS}
    for kind in (I8, "int4"):
        scale = T(1, low=0.02, high=0.03) if kind == I8 else T(1, low=0.3, high=0.4)
        case("aclnnRmsNormQuant", norm_quant, HALF, beta=T(*gamma), scale=scale,
             offset=T(1, low=-5, high=6, dtype=I8), layouts=("plain", "sliced"), whole={"y": kind},
             **common)  # fmt: skip
        for offset, beta in ((None, None), (T(1, low=-5, high=6, dtype=I8), T(*gamma))):
            case("aclnnRmsNormQuantV3", norm_quant_rstd, HALF, scale=scale, offset=offset, beta=beta, div_mode=True,
                 output_rstd=True, layouts=("plain",), whole={"y": kind}, out_dtypes={"rstd": F32},
                 **common)  # fmt: skip


def dynamic(values, high=127):
    scale = values.abs().amax(-1) / high
    return values / scale.unsqueeze(-1), scale


def add_norm_dynamic(x1, x2, gamma, smooth_scale1, smooth_scale2, beta, mask, high):
    y, _ = normalised(x1 + x2, gamma, beta)
    both = smooth_scale1 is not None and smooth_scale2 is not None
    wanted = mask or (True, both)
    made = [dynamic(y if s is None else y * s, high) if w else (None, None)
            for s, w in zip((smooth_scale1, smooth_scale2), wanted, strict=True)]  # fmt: skip
    return made[0][0], made[1][0], x1 + x2, made[0][1], made[1][1]


for kind, high in ((I8, 127), ("int4", 7)):
    for mask in (None, [True, False], [True, True], [False, True]):
        for smooth in ((None, None), (T(64), None), (T(64), T(64))):

            def oracle(x1, x2, gamma, smooth_scale1, smooth_scale2, beta, mask, high=high):
                return add_norm_dynamic(x1, x2, gamma, smooth_scale1, smooth_scale2, beta, mask, high)

            case("aclnnAddRmsNormDynamicQuantV2", oracle, HALF, x1=T(2, 3, 64), x2=T(2, 3, 64), gamma=T(64),
                 smooth_scale1=smooth[0], smooth_scale2=smooth[1], beta=T(64) if smooth[0] else None, epsilon=EPS,
                 mask=mask, layouts=("plain", "sliced"), whole={"y1": kind, "y2": kind},
                 out_dtypes={"scale1": F32, "scale2": F32})  # fmt: skip


def flattened(x, kronecker_p1, kronecker_p2, clip_ratio):
    value = kronecker_p1 @ x @ kronecker_p2
    scale = value.abs().amax((-2, -1)) * clip_ratio / 7
    return value / scale.reshape(-1, 1, 1), scale


for m, n in ((7, 16), (24, 64)):
    for ratio in (1.0, 0.75):
        common = {"x": T(12, m, n), "kronecker_p1": T(m, m), "kronecker_p2": T(n, n), "clip_ratio": ratio,
                  "dtypes": HALF, "whole": {"out": "int4"}, "out_dtypes": {"quant_scale": F32},
                  "layouts": ("plain", "transposed")}  # fmt: skip
        case("aclnnFlatQuant", flattened, **common)
        case("aclnnFlatQuantV2", flattened, dst_type_max=0.0, **common)


def groups_of(group_index, rows, counts):
    """The group of each row, -1 behind the last one."""
    if group_index is None:
        return torch.zeros(rows, dtype=I64)
    ends = group_index.long().cumsum(0) if counts else group_index.long()
    group = torch.searchsorted(ends, torch.arange(rows), right=True)
    return torch.where(group < len(ends), group, -1)


def rows_by(t, group, columns):
    """A row of numbers for each row of a group: t has one number, [columns], [groups] or [groups, columns]."""
    if t is None:
        return None
    t = t.double()
    if t.numel() == 1:
        return t.reshape(1, 1)
    if t.dim() == 1 and len(t) == columns:
        return t.reshape(1, -1)
    return t.reshape(len(t), -1)[group]


def swiglu(x, activate_left):
    first, second = x.chunk(2, -1)
    return F.silu(first) * second if activate_left else F.silu(second) * first


def variant(x, clamp_limit, glu_alpha, glu_bias):
    gate, linear = x[..., ::2].clamp(max=clamp_limit), x[..., 1::2].clamp(-clamp_limit, clamp_limit)
    return gate * torch.sigmoid(glu_alpha * gate) * (linear + glu_bias)


def quantised(value, group, scale, offset, mode, divide, high=127):
    scale, offset = (rows_by(t, group, value.shape[-1]) for t in (scale, offset))
    if mode == "static":
        if scale is not None:
            value = value / scale if divide else value * scale
        made, factor = (value if offset is None else value + offset), torch.zeros(len(value))
    else:
        made, factor = dynamic(value if scale is None else value * scale, high)
    lost = (group < 0).unsqueeze(-1)
    return made.masked_fill(lost, 0), factor.double().masked_fill(lost[:, 0], 0)


def dequantised(x, weight_scale, activate_scale, bias, group):
    if x.dtype.is_floating_point:
        return x.double()
    whole = bias is not None and not bias.dtype.is_floating_point
    addend = 0 if bias is None else rows_by(bias, group, x.shape[-1])
    value = (x.double() + (addend if whole else 0)) * rows_by(weight_scale, group, x.shape[-1])
    value = value * (1 if activate_scale is None else activate_scale.reshape(-1, 1))
    return value if whole else value + addend


def dequant_swiglu(x, weight_scale, activate_scale, bias, quant_scale, quant_offset, group_index, activate_left,
                   quant_mode, form=None):  # fmt: skip
    flat = x.reshape(-1, x.shape[-1])
    group = groups_of(group_index, len(flat), True)
    value = dequantised(flat, weight_scale, activate_scale, bias, group)
    value = swiglu(value, activate_left) if form is None else variant(value, *form)
    y, scale = quantised(value, group, quant_scale, quant_offset, quant_mode, True)
    return y.reshape(*x.shape[:-1], -1), scale.reshape(x.shape[:-1])


H = 48
WHOLE = T(9, 2 * H, low=-90, high=90, dtype=I32)
SETTINGS = {"whole": {"y": I8}, "out_dtypes": {"scale": F32}, "layouts": ("plain", "transposed")}


def dequant(x, weight=None, activate=None, bias=None, scale=None, offset=None, group=None, left=False, mode="dynamic"):
    values = {"x": x, "weight_scale": weight, "activate_scale": activate, "bias": bias, "quant_scale": scale,
              "quant_offset": offset, "group_index": group, "activate_left": left, "quant_mode": mode}  # fmt: skip
    case("aclnnDequantSwigluQuant", v1, HALF, **values, **SETTINGS)
    tail = {"dst_type": 2, "round_mode": "rint", "activate_dim": -1, "clamp_limit": 3.0, "glu_alpha": 1.702,
            "glu_bias": 1.0}  # fmt: skip
    case("aclnnDequantSwigluQuantV2", v1, HALF, swiglu_mode=0, **values, **tail, **SETTINGS)
    case("aclnnDequantSwigluQuantV2", pairs, HALF, swiglu_mode=1, **values, **tail, **SETTINGS)


def v1(x, weight_scale, activate_scale, bias, quant_scale, quant_offset, group_index, activate_left, quant_mode):
    return dequant_swiglu(x, weight_scale, activate_scale, bias, quant_scale, quant_offset, group_index, activate_left,
                          quant_mode)  # fmt: skip


def pairs(x, weight_scale, activate_scale, bias, quant_scale, quant_offset, group_index, quant_mode, clamp_limit,
          glu_alpha, glu_bias):  # fmt: skip
    return dequant_swiglu(x, weight_scale, activate_scale, bias, quant_scale, quant_offset, group_index, False,
                          quant_mode, (clamp_limit, glu_alpha, glu_bias))  # fmt: skip


def fixed(*values, dtype=I64):
    return T(values=lambda generator: torch.tensor(values, dtype=dtype), dtype=dtype)


WEIGHT, ROWS = T(2 * H, low=0.01, high=0.05, dtype=F32), T(9, 1, low=0.5, high=1, dtype=F32)
for left in (False, True):
    dequant(T(9, 2 * H), scale=T(H, dtype=F32), left=left)
    dequant(WHOLE, WEIGHT, ROWS, left=left, scale=T(1, H, dtype=F32))
dequant(WHOLE, WEIGHT, None, bias=T(2 * H, low=-50, high=50, dtype=I32))
dequant(WHOLE, WEIGHT, ROWS, bias=T(2 * H, dtype=F32))
dequant(WHOLE, WEIGHT, ROWS, scale=T(1, low=0.02, high=0.03, dtype=F32), offset=T(1, dtype=F32), mode="static")
dequant(WHOLE, WEIGHT, ROWS, scale=T(H, low=0.02, high=0.03, dtype=F32), offset=T(H, dtype=F32), mode="static")
dequant(WHOLE, T(3, 2 * H, low=0.01, high=0.05, dtype=F32), T(9, low=0.5, high=1, dtype=F32),
        scale=T(3, H, dtype=F32), group=fixed(2, 0, 5))  # fmt: skip
dequant(T(3, 3, 2 * H, low=-90, high=90, dtype=I32), WEIGHT, T(3, 3, 1, low=0.5, high=1, dtype=F32))


def swiglu_quant(high):
    def oracle(x, smooth_scales, offsets, group_index, activate_left, quant_mode, group_list_type):
        flat = x.reshape(-1, x.shape[-1])
        group = groups_of(group_index, len(flat), group_list_type == 1)
        y, scale = quantised(swiglu(flat, activate_left), group, smooth_scales, offsets, quant_mode, False, high)
        scale = torch.where(scale == 0, 0, 1 / scale)
        return y.reshape(*x.shape[:-1], -1), scale.reshape(x.shape[:-1])

    return oracle


for kind, high, number in ((I8, 127, 2), ("int4", 7, 29)):
    for group, counts in ((None, 0), (fixed(2, 2, 9, dtype=I32), 0), (fixed(2, 0, 5, dtype=I32), 1)):
        n = () if group is None else (3,)
        one = n or (1,)
        wide = 30 if kind == I8 else 2
        for mode, smooth, offset in (("dynamic", T(*one, H, dtype=F32), None),
                                     ("static", T(*n, H, high=wide, dtype=F32), T(*n, H, dtype=F32)),
                                     ("static", T(*one, high=wide, dtype=F32), T(*one, dtype=F32))):  # fmt: skip
            case("aclnnSwiGluQuantV2", swiglu_quant(high), [F32, *HALF], x=T(9, 2 * H), smooth_scales=smooth,
                 offsets=offset, group_index=group, activate_left=mode == "dynamic", quant_mode=mode,
                 group_list_type=counts, dst_type=number, layouts=("plain", "sliced"), whole={"y": kind},
                 out_dtypes={"scale": F32})  # fmt: skip


def scattered(self, indices, updates, quant_scales, quant_zero_points):
    zero = 0 if quant_zero_points is None else quant_zero_points
    out, made = self.double(), (updates / quant_scales + zero).round()
    for b, start in enumerate(indices):
        out[b, :, start : start + made.shape[2]] = made[b]
    return out


for kind, zeros in ((F32, I32), (torch.bfloat16, torch.bfloat16)):
    for zero in (None, T(1, 1, 1, 32, low=-9, high=9, dtype=zeros)):
        scatter = {
            "self": T(3, 2, 9, 32, low=-99, high=99, dtype=I8), "indices": fixed(4, 0, dtype=I32), "axis": -2,
            "updates": T(2, 2, 3, 32), "quant_zero_points": zero, "quant_axis": -1, "reduction": 1,
            "quant_scales": T(1, 1, 1, 32, **SMALL, dtype=kind), "layouts": ("plain",), "whole": {"self": I8},
        }  # fmt: skip
        case("aclnnInplaceQuantScatter", scattered, HALF, **scatter)
        case("aclnnInplaceQuantScatterV2", scattered, HALF, round_mode="rint", **scatter)
