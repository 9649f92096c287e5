# SPDX-License-Identifier: Apache-2.0
"""Cases of resizing images (see case.py for the form)."""

import torch
from case import T, case

aten = torch.ops.aten
LAYOUTS = ("plain", "transposed", "sliced", "expanded", "channels_last")
# Image sizes before and after, by number of axes: larger, smaller, the same, uneven.
SIZES = {
    1: [([5], [10]), ([9], [4]), ([7], [7]), ([1], [6])],
    2: [([5, 6], [10, 12]), ([9, 11], [4, 16]), ([4, 7], [4, 7]), ([8, 20], [3, 7])],
    3: [([2, 3, 4], [4, 6, 8]), ([5, 4, 7], [2, 4, 10])],
}
SCALES = {1: ["scales"], 2: ["scales_h", "scales_w"], 3: ["scales_d", "scales_h", "scales_w"]}
CORNERS = [(False,), (True,)]


def factors(before, after, fitting):
    """Scales that lead to the sizes without being their ratio, or 'none' as clients write it. For whole factors
    PyTorch's own paths disagree whether the scale or the ratio counts, so there both are the same."""
    if not fitting:
        return [1.0, 0.0, -1.0][: len(before)]
    return [a / b if a in (b, 2 * b) else (a + 0.4) / b for b, a in zip(before, after, strict=True)]


def resized(name, backward_names, function, axes, corners=((),), scales=True, backward_scales=True, channels=(3, 40)):
    """Cases of one kind of resizing and of its gradient. `function` is torch's, with scales of None for 'none'."""
    for before, after in SIZES[axes]:
        for corner in corners:
            for fitting in (False, True):
                for lanes in channels if not fitting else channels[:1]:
                    one(name, backward_names, function, before, after, corner, fitting, lanes, scales, backward_scales)


def one(name, backward_names, function, before, after, corner, fitting, lanes, scales, backward_scales):
    axes = len(before)
    numbers = factors(before, after, fitting)
    given = numbers if fitting else [None] * axes
    options = {"align_corners": corner[0]} if corner else {}
    values = dict(zip(SCALES[axes], numbers, strict=True))

    def forward(self):
        return function(self, after, *corner, *(given if scales else [None] * axes))

    def backward(grad_output):
        x = torch.zeros([2, lanes, *before], dtype=torch.float64, requires_grad=True)
        resized = function(x, after, *corner, *(given if backward_scales else [None] * axes))
        return torch.autograd.grad(resized, x, grad_output)[0]

    case(name, forward, self=T(2, lanes, *before), output_size=after, layouts=LAYOUTS, **options,
         **(values if scales else {}))  # fmt: skip
    for backward_name in backward_names:
        case(backward_name, backward, grad_output=T(2, lanes, *after), output_size=after, layouts=LAYOUTS,
             input_size=[2, lanes, *before], **options, **values)  # fmt: skip


for kind, function in [
    ("1d", aten.upsample_nearest1d),
    ("2d", aten.upsample_nearest2d),
    ("3d", aten.upsample_nearest3d),
]:
    own = kind == "3d"
    name = f"aclnnUpsampleNearest{kind}"
    resized(name, [f"{name}Backward"], function, int(kind[0]), scales=own)
    if not own:
        resized(f"{name}V2", [], function, int(kind[0]))
    resized(f"aclnnUpsampleNearestExact{kind}", [f"aclnnUpsampleNearestExact{kind}Backward"],
            getattr(aten, f"_upsample_nearest_exact{kind}"), int(kind[0]))  # fmt: skip
for name, backwards, function, axes in [
    ("Linear1d", ["Backward"], aten.upsample_linear1d, 1),
    ("Bilinear2d", ["Backward", "BackwardV2"], aten.upsample_bilinear2d, 2),
    ("Trilinear3d", ["Backward"], aten.upsample_trilinear3d, 3),
    ("Bicubic2d", ["Backward"], aten.upsample_bicubic2d, 2),
    ("Bilinear2dAA", ["Backward"], aten._upsample_bilinear2d_aa, 2),
    ("Bicubic2dAA", ["Grad"], aten._upsample_bicubic2d_aa, 2),
]:
    full = f"aclnnUpsample{name}"
    resized(full, [full + b for b in backwards], function, axes, corners=CORNERS)
