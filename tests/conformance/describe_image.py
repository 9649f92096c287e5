# SPDX-License-Identifier: Apache-2.0
"""Cases of pooling (see case.py for the form)."""

import torch
import torch.nn.functional as F
from case import T, case

LAYOUTS = ("plain", "transposed", "sliced", "expanded", "channels_last")
NAMES = ["kernel_size", "stride", "padding", "dilation", "ceil_mode"]
# ResNet's stem, a plain 2x2, overlapping, uneven, dilated, ceil at the edge, gaps between windows
WINDOWS = [
    ([3, 3], [2, 2], [1, 1], [1, 1], False),
    ([2, 2], [2, 2], [0, 0], [1, 1], False),
    ([3, 3], [1, 1], [1, 1], [1, 1], False),
    ([2, 3], [3, 1], [1, 0], [1, 2], True),
    ([3, 2], [2, 2], [1, 1], [2, 1], True),
    ([1, 1], [2, 1], [0, 0], [1, 1], False),
]
# Few channels; a bundle of channels and a rest, rows of several vectors; no batch; one channel.
SHAPES = [(2, 3, 9, 11), (1, 40, 7, 67), (9, 8, 10), (2, 1, 5, 5), (0, 2, 7, 7)]


def named(window):
    return dict(zip(NAMES, window, strict=True))


def max_pool(self, kernel_size, stride, padding, dilation, ceil_mode):
    return F.max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode, return_indices=True)


def max_pool_value(self, kernel_size, stride, padding, dilation, ceil_mode):
    return max_pool(self, kernel_size, stride, padding, dilation, ceil_mode)[0], None


def max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode):
    return F.max_pool3d(self.contiguous(), kernel_size, stride, padding, dilation, ceil_mode, return_indices=True)


def distinct(*shape):
    """Random numbers that are all different."""
    generator = torch.Generator().manual_seed(7)
    return torch.rand(shape, generator=generator).double()


def placed(spatial):
    """Each gradient added where its index points."""

    def backward(grad_output, self, indices):
        if self.numel() == 0:
            return torch.zeros_like(self)
        flat = torch.zeros(self.shape, dtype=self.dtype).flatten(-spatial)
        flat.scatter_add_(-1, indices.flatten(-spatial).long(), grad_output.flatten(-spatial))
        return flat.view(self.shape)

    return backward


def indexed(forward, backward, pool, spatial, shape, layouts=LAYOUTS, **values):
    """Cases of a pooling with indices and of its gradient."""
    out, at = pool(distinct(*shape), **values)
    rest = {} if backward.startswith("aclnnAdaptive") else values
    for made in (torch.int64, torch.int32):
        case(forward, pool, self=T(*shape), layouts=layouts, out_dtypes={"indices": made}, **values)
        indices = T(*out.shape, dtype=made, values=lambda _, made=made: at.to(made))
        case(backward, placed(spatial), grad_output=T(*out.shape), self=T(*shape), indices=indices, layouts=layouts,
             **rest)  # fmt: skip


def window_numbers(x, at, window):
    """What the library writes as the mask: a byte per output, which element of the window is its maximum."""
    (_, kw), (sh, sw), (ph, pw), (dh, dw), _ = window
    y = at // x.shape[-1] - (torch.arange(at.shape[-2])[:, None] * sh - ph)
    x = at % x.shape[-1] - (torch.arange(at.shape[-1]) * sw - pw)
    return (y // dh * kw + x // dw).to(torch.int8).flatten()


def masked(shape, window):
    """Cases of a pooling with the opaque mask, which has the size that the PyTorch client gives it."""
    x = distinct(*shape)
    out, at = max_pool(x, *window)
    blocks = -(-(out.shape[-1] * out.shape[-2]) // 16) + 1
    size = torch.Size(shape[:-2]).numel() * window[0][0] * window[0][1] * blocks * 32
    numbers = window_numbers(x, at, window)
    mask = torch.cat([numbers, torch.full((size - numbers.numel(),), -1, dtype=torch.int8)])

    def backward(grad_output, self):
        return placed(2)(grad_output, self, at)

    case("aclnnMaxPool2dWithMask", max_pool_value, self=T(*shape), layouts=("plain", "transposed", "expanded"),
         out_shapes={"indices": (size,)}, out_dtypes={"indices": torch.int8}, **named(window))  # fmt: skip
    case("aclnnMaxPool2dWithMaskBackward", backward, grad_output=T(*out.shape), self=T(*shape),
         indices=T(size, dtype=torch.int8, values=lambda _: mask), layouts=("plain", "transposed"),
         **named(window))  # fmt: skip


def ties(_generator):
    """The first of equal elements counts, and the last NaN before everything."""
    inf, nan = float("inf"), float("nan")
    rows = [[1] * 6, [-inf] * 6, [nan, 0, 0, nan, 1, 2], [0, -0.0, 0, inf, nan, inf], [-inf] * 6, [3, 3, 2] * 2]
    return torch.tensor(rows).repeat(1, 12).expand(1, 40, 6, 72)


for shape in SHAPES:
    for window in WINDOWS:
        indexed("aclnnMaxPool2dWithIndices", "aclnnMaxPool2dWithIndicesBackward", max_pool, 2, shape, **named(window))
        masked(shape, window)
for window in WINDOWS:
    case("aclnnMaxPool2dWithIndices", max_pool, self=T(1, 40, 6, 72, values=ties), layouts=("plain", "channels_last"),
         **named(window))  # fmt: skip

# --- averages -------------------------------------------------------------------------------------------------------


def averages(name, pool, shape, **values):
    """Cases of a linear pooling and of its gradient."""

    def forward(self):
        return pool(self, **values)

    def backward(grad_output, self):
        x = torch.zeros(self.shape, dtype=torch.float64, requires_grad=True)
        return torch.autograd.grad(pool(x, **values), x, grad_output)[0]

    out = pool(torch.zeros(shape), **values)
    rest = {} if name.startswith("aclnnAdaptive") else values
    case(name, forward, self=T(*shape), layouts=LAYOUTS, **values)
    case(f"{name}Backward", backward, grad_output=T(*out.shape), self=T(*shape), layouts=LAYOUTS, **rest)


def avg_pool2d(self, divisor_override, **values):
    return F.avg_pool2d(self, divisor_override=divisor_override or None, **values)


def avg_pool3d(self, divisor_override, **values):
    return F.avg_pool3d(self, divisor_override=divisor_override or None, **values)


def adaptive_avg_pool2d(self, output_size):
    return F.adaptive_avg_pool2d(self, output_size)


def adaptive_avg_pool3d(self, output_size):
    return F.adaptive_avg_pool3d(self, output_size)


for shape in SHAPES:
    for kernel, stride, padding, ceil in [
        ([2, 2], [2, 2], [0, 0], False),
        ([3, 3], [2, 2], [1, 1], True),
        ([3, 4], [1, 3], [1, 2], True),
        ([4, 5], [4, 5], [0, 1], False),
    ]:
        for count, divisor in [(True, 0), (False, 0), (True, 3)]:
            averages("aclnnAvgPool2d", avg_pool2d, shape, kernel_size=kernel, stride=stride, padding=padding,
                     ceil_mode=ceil, count_include_pad=count, divisor_override=divisor)  # fmt: skip
    for size in ([1, 1], [3, 4], [7, 7]):
        averages("aclnnAdaptiveAvgPool2d", adaptive_avg_pool2d, shape, output_size=size)


# --- adaptive maximum, three dimensions -----------------------------------------------------------------------------


def adaptive_max_pool2d(self, output_size):
    return F.adaptive_max_pool2d(self, output_size, return_indices=True)


def adaptive_max_pool3d(self, output_size):
    return F.adaptive_max_pool3d(self, output_size, return_indices=True)


for shape in SHAPES:
    for size in ([1, 1], [3, 4], [7, 7]):
        indexed("aclnnAdaptiveMaxPool2d", "aclnnAdaptiveMaxPool2dBackward", adaptive_max_pool2d, 2, shape,
                output_size=size)  # fmt: skip
for shape in [(2, 3, 5, 6, 7), (1, 9, 4, 5, 6), (3, 4, 4, 4)]:
    for size in ([1, 1, 1], [2, 3, 4]):
        indexed("aclnnAdaptiveMaxPool3d", "aclnnAdaptiveMaxPool3dBackward", adaptive_max_pool3d, 3, shape,
                output_size=size)  # fmt: skip
        averages("aclnnAdaptiveAvgPool3d", adaptive_avg_pool3d, shape, output_size=size)
    for window in [
        ([2, 2, 2], [2, 2, 2], [0, 0, 0], [1, 1, 1], False),
        ([3, 2, 3], [1, 2, 2], [1, 0, 1], [1, 2, 1], True),
    ]:
        indexed("aclnnMaxPool3dWithArgmax", "aclnnMaxPool3dWithArgmaxBackward", max_pool3d, 3, shape, **named(window))
        for count, divisor in [(True, 0), (False, 0), (True, 5)]:
            averages("aclnnAvgPool3d", avg_pool3d, shape, kernel_size=window[0], stride=window[1], padding=window[2],
                     ceil_mode=window[4], count_include_pad=count, divisor_override=divisor)  # fmt: skip


# --- unpooling ------------------------------------------------------------------------------------------------------


def unpooled(name, unpool, spatial, shape, size, **rest):
    """Distinct indices, so that the order of writing does not matter."""
    generator = torch.Generator().manual_seed(3)
    cells = torch.Size(size).numel()
    count = torch.Size(shape[-spatial:]).numel()
    rows = [torch.randperm(cells, generator=generator)[:count] for _ in range(torch.Size(shape[:-spatial]).numel())]
    at = torch.stack(rows).reshape(shape)

    def oracle(self, indices):
        return unpool(self.contiguous(), indices.contiguous(), size)

    case(name, oracle, self=T(*shape), indices=T(*shape, dtype=torch.int64, values=lambda _: at), output_size=size,
         layouts=LAYOUTS, **rest)  # fmt: skip


def unpool3d(self, indices, size):
    return torch.ops.aten.max_unpool3d(self, indices, size, [2, 2, 2], [0, 0, 0])


for shape in [(2, 3, 4, 5), (1, 40, 3, 7), (3, 2, 2)]:
    unpooled("aclnnMaxUnpool2d", torch.ops.aten.max_unpool2d, 2, shape, [shape[-2] * 2 + 1, shape[-1] * 2])
for shape in [(2, 3, 2, 3, 4), (1, 9, 2, 2, 2)]:
    unpooled("aclnnMaxUnpool3d", unpool3d, 3, shape, [d * 2 for d in shape[-3:]], stride=[2, 2, 2], padding=[0, 0, 0])


def plain_max_pool(self, kernel_size, stride, padding, dilation, ceil_mode):
    """Padding is one number, one an axis, or before and after each axis."""
    top, bottom, left, right = padding if len(padding) == 4 else (padding[0], padding[0], padding[-1], padding[-1])
    padded = F.pad(self, (left, right, top, bottom), value=-torch.inf)
    return F.max_pool2d(padded, kernel_size, stride, 0, dilation, bool(ceil_mode))


for shape in ((2, 3, 9, 11), (1, 40, 7, 67), (9, 8, 10)):
    for kernel, stride, padding in (([2, 2], [2, 2], [0, 0, 0, 0]), ([3, 3], [2, 2], [1, 0, 0, 1]), ([3], [], [1])):
        case("aclnnMaxPool", plain_max_pool, layouts=("plain", "sliced", "channels_last"), self=T(*shape),
             kernel_size=kernel, stride=stride, auto_pad=0, padding=padding, dilation=[1, 1], ceil_mode=0)  # fmt: skip
case("aclnnMaxPool", plain_max_pool, self=T(1, 2, 8, 8), kernel_size=[3, 3], stride=[2, 2], auto_pad=0, padding=[0, 0],
     dilation=[1, 1], ceil_mode=1)  # fmt: skip
