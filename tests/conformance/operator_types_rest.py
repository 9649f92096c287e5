# SPDX-License-Identifier: Apache-2.0
"""Descriptions of the operator types that PyTorch's older path asks for besides the common ones."""

import torch
import torch.nn.functional as F
from operator_case import CASES, case, flags, gradient, ints, rand
from operator_type import Host

MODES = ("none", "mean", "sum")

# --- one element after the other --------------------------------------------------------------------------------------

for name, function, options in [
    ("CeluV2", lambda x: F.celu(x, 0.5), {"alpha": 0.5}),
    ("HardShrink", lambda x: F.hardshrink(x, 0.75), {"lambd": 0.75}),
    ("SoftShrink", lambda x: F.softshrink(x, 0.75), {"lambd": 0.75}),
    ("HardSigmoid", F.hardsigmoid, {}),
    ("Selu", F.selu, {}),
    ("ThresholdV2D", lambda x: F.threshold(x, 0.5, -3.0), {"threshold": 0.5, "value": -3.0}),
    ("GLU", lambda x: F.glu(x, 1), {"dim": 1}),
]:
    case(name, [rand(4, 6, low=-4, high=4)], function, **options)
for name, function, options in [
    ("HardShrinkGrad", lambda x: F.hardshrink(x, 0.75), {"lambd": 0.75}),
    ("SoftShrinkGrad", lambda x: F.softshrink(x, 0.75), {"lambd": 0.75}),
    ("HardSigmoidGrad", F.hardsigmoid, {}),
    ("HardSwishGrad", F.hardswish, {}),
    ("LogSigmoidGrad", F.logsigmoid, {}),
    ("SoftplusV2Grad", lambda x: F.softplus(x, 2, 1), {"beta": 2.0, "threshold": 1.0}),
    ("EluGradV2", lambda x: F.elu(x, 0.5), {"alpha": 0.5, "scale": 1.0, "input_scale": 1.0, "is_result": False}),
]:
    case(name, [rand(4, 6), rand(4, 6, low=-4, high=4)], gradient(function), **options)
case("EluGradV2", [rand(9), F.elu(rand(9), 0.5)], lambda g, y: torch.where(y > 0, g, g * (y + 0.5)), alpha=0.5,
     is_result=True)  # fmt: skip
case("HardtanhGrad", [rand(9), rand(9)], lambda x, g: gradient(lambda t: F.hardtanh(t, -0.5, 1.0))(g, x), max_val=1.0,
     min_val=-0.5)  # fmt: skip
SELU = (1.6732632423543772, 1.0507009873554805)
case("SeluGrad", [rand(9), F.selu(rand(9))],
     lambda g, y: g * torch.where(y > 0, SELU[1], y + SELU[0] * SELU[1]))  # fmt: skip
case("GLUGrad", [rand(4, 3), rand(4, 6)], gradient(lambda x: F.glu(x, -1)), dim=-1)
case("PRelu", [rand(2, 3, 4), rand(3)], F.prelu)


def prelu_gradient(grad, x, weight):
    x.requires_grad_(), weight.requires_grad_()
    return torch.autograd.grad(F.prelu(x, weight), (x, weight), grad)


case("PReluGrad", [rand(2, 3, 4), rand(2, 3, 4), rand(3)], prelu_gradient)
case("LeftShift", [ints(9, 9), ints(9, 9)], torch.bitwise_left_shift)
case("RightShift", [ints(999, 9), ints(4, 9)], torch.bitwise_right_shift)
case("LogAddExp", [rand(9), rand(9)], torch.logaddexp, base=-1.0, scale=1.0, shift=0.0)
case("LogAddExp", [rand(9), rand(9)], torch.logaddexp2, base=2.0, scale=1.0, shift=0.0)
NEAR = rand(9)
case("IsClose", [NEAR, NEAR + torch.tensor([0, 1e-9, 0.1] * 3)], torch.isclose, rtol=1e-5, atol=1e-8, equal_nan=False)
case("NanToNum", [torch.tensor([1.0, float("nan"), float("inf"), -float("inf")])],
     lambda x: torch.nan_to_num(x, 0.5, 9.0, -9.0), nan=0.5, posinf=9.0, neginf=-9.0)  # fmt: skip
for other in (NEAR.clone(), NEAR + 1):
    case("TensorEqual", [NEAR, other], lambda x, y: torch.tensor([torch.equal(x, y)]))
case("RotaryMul", [rand(2, 3, 4, 8), rand(2, 3, 1, 8), rand(2, 3, 1, 8)],
     lambda x, c, s: x * c + torch.cat((-x[..., 4:], x[..., :4]), -1) * s)  # fmt: skip


def rotary_gradient(x, c, s, grad):
    x.requires_grad_(), c.requires_grad_(), s.requires_grad_()
    y = x * c + torch.cat((-x[..., 4:], x[..., :4]), -1) * s
    return torch.autograd.grad(y, (x, c, s), grad)


case("RotaryMulGrad", [rand(2, 3, 4, 8), rand(2, 3, 1, 8), rand(2, 3, 1, 8), rand(2, 3, 4, 8)], rotary_gradient,
     need_backward=True)  # fmt: skip
HIDDEN = ints(2, 2, 1, 4, 5) > 0
case("ScaledMaskedSoftmax", [rand(2, 3, 4, 5), HIDDEN],
     lambda x, m: (x * 0.5).masked_fill(m, -10000.0).softmax(-1), scale=0.5, fixed_triu_mask=False)  # fmt: skip
case("ScaledMaskedSoftmaxGrad", [rand(2, 3, 4, 5), rand(2, 3, 4, 5).softmax(-1), HIDDEN],
     lambda g, y, m: 0.5 * y * (g - (g * y).sum(-1, True)), scale=0.5, fixed_triu_mask=False)  # fmt: skip

# --- shapes -----------------------------------------------------------------------------------------------------------

PADS = Host([[0, 0], [0, 0], [1, 2], [2, 1]], torch.int32)
case("PadV3", [rand(2, 3, 4, 5), PADS, torch.tensor([0.0])], lambda x, *_: F.pad(x, (2, 1, 1, 2), mode="replicate"),
     mode="edge", paddings_contiguous=True)  # fmt: skip
case("PadV3", [rand(2, 3, 4, 5), PADS, torch.tensor([0.0])], lambda x, *_: F.pad(x, (2, 1, 1, 2), mode="reflect"),
     mode="reflect", paddings_contiguous=True)  # fmt: skip
case("MirrorPad", [rand(2, 3, 4, 5), PADS], lambda x, _: F.pad(x, (2, 1, 1, 2), mode="reflect"), mode="REFLECT")
for word, mode in (("edge", "replicate"), ("reflect", "reflect")):
    case("PadV3Grad", [rand(2, 3, 7, 8), PADS],
         lambda g, _, m=mode: gradient(lambda x: F.pad(x, (2, 1, 1, 2), mode=m))(g, torch.zeros(2, 3, 4, 5).to(g)),
         mode=word, paddings_contiguous=True)  # fmt: skip
WINDOW = {"kernel_size": (2, 3), "dilation": (1, 2), "padding": (1, 2), "stride": (2, 1)}
case("Im2col", [rand(2, 3, 5, 6)], lambda x: F.unfold(x, **WINDOW), ksizes=[2, 3], strides=[2, 1], dilations=[1, 2],
     padding_mode="CALCULATED", pads=[1, 1, 2, 2])  # fmt: skip
COLUMNS = F.unfold(rand(2, 3, 5, 6), **WINDOW)
LISTS = {name: list(pair) for name, pair in WINDOW.items()}
case("Col2im", [COLUMNS.reshape(2, 3, 6, -1), Host([5, 6], torch.int32)],
     lambda x, _: F.fold(x.reshape(2, 18, -1), (5, 6), **WINDOW), **LISTS)  # fmt: skip
case("ConfusionTransposeD", [rand(2, 3, 8)], lambda x: x.reshape(2, 3, 2, 4).permute(0, 2, 1, 3).contiguous(),
     perm=[0, 2, 1, 3], shape=[2, 3, 2, 4], transpose_first=False)  # fmt: skip
case("ConfusionTransposeD", [rand(2, 3, 8)], lambda x: x.permute(0, 2, 1).reshape(4, 12), perm=[0, 2, 1],
     shape=[4, 12], transpose_first=True)  # fmt: skip
for above in (0, 1, -2):
    case("DiagPart", [rand(4, 6)], lambda x, k=above: x.diagonal(k).clone(), diagonal=above)
for put in ({0: 0}, ()):
    case("FillDiagonal", [rand(7, 3)], lambda x: x.fill_diagonal_(2.5, True), continued=put, fill_value=2.5, wrap=True)
case("ShuffleChannel", [rand(2, 6, 3)], lambda x: F.channel_shuffle(x, 3), group=3)
PLACES = Host([0.0] * 7, torch.float32)
case("RangeD", [PLACES], lambda _: torch.arange(1, 4.1, 0.5), start=1.0, limit=4.0, delta=0.5)
case("LogSpaceD", [torch.arange(5.0)], lambda _: torch.logspace(0, 2, 5, 2.0), start=0.0, end=2.0, steps=5, base=2.0,
     dtype=1)  # fmt: skip
case("AffineGrid", [rand(2, 2, 3), Host([2, 3, 4, 5], torch.int32)],
     lambda t, _: F.affine_grid(t, [2, 3, 4, 5], True).reshape(2, 20, 2), align_corners=True)  # fmt: skip
case("OneHotD", [ints(4, 6).int(), torch.tensor([2.0]), torch.tensor([-1.0])],
     lambda i, *_: F.one_hot(i.long(), 4).double() * 3 - 1, axis=-1, depth=4)  # fmt: skip
case("RepeatInterleave", [rand(3, 4), Host(2)], lambda x, _: x.repeat_interleave(2, 1), axis=1)
case("RepeatInterleave", [rand(3, 4), torch.tensor([2, 0, 3])], lambda x, r: x.repeat_interleave(r, 0), axis=0)

# --- indices, sums, order ---------------------------------------------------------------------------------------------

case("Gather", [rand(9), ints(9, 2, 3)], torch.take, validate_indices=False)
case("Index", [rand(5, 4, 3), Host([1, 1]), Host([6, 3]), ints(5, 6), ints(4, 6)], lambda x, _, s, i, j: x[i, j])
case("Index", [rand(5, 4, 3), Host([0, 1]), Host([5, 6, 3]), ints(4, 6)], lambda x, _, s, i: x[:, i].contiguous())
for added in (False, True):
    for put in ({0: 0}, ()):
        case("IndexPutV2", [rand(5, 4, 3), rand(3), Host([1, 1]), Host([1, 1]), torch.tensor([4, 1]),
                            torch.tensor([0, 3])],
             lambda x, v, _, s, i, j, a=added: x.index_put((i, j), v, a), continued=put, accumulate=added)  # fmt: skip
KEEP = torch.ones(3, 4)
KEEP[:, [1, 3]] = 0
case("IndexFillD", [rand(3, 4), KEEP, (1 - KEEP) * 2.5],
     lambda x, a, b: x.index_fill(1, torch.tensor([1, 3]), 2.5), dim=1)  # fmt: skip
case("IndexFillD", [rand(3, 4) / 0, KEEP, (1 - KEEP) * 2.5],
     lambda x, a, b: x.index_fill(1, torch.tensor([1, 3]), 2.5), dim=1)  # fmt: skip
MASK = flags(3, 4)
for put in ({0: 0}, ()):
    case("MaskedScatter", [rand(3, 4), MASK, rand(12)], torch.masked_scatter, continued=put)
    case("Scatter", [rand(2, 5, 3), torch.tensor([3, 1]), rand(2, 1, 3)],
         lambda x, i, u: torch.stack([x[n].index_copy(0, i[n : n + 1], u[n]) for n in range(2)]), continued=put,
         reduce="update", axis=1)  # fmt: skip
    case("ScatterUpdate", [rand(5, 3), torch.tensor([3, 1]), rand(2, 3)], lambda x, i, u: x.index_copy(0, i, u),
         continued=put, use_locking=False)  # fmt: skip
    case("ScatterNdUpdate", [rand(9), torch.tensor([[3], [7]]), rand(2)], lambda x, i, u: x.index_copy(0, i[:, 0], u),
         continued=put, use_locking=False)  # fmt: skip
    case("ScatterNdAdd", [rand(9), torch.tensor([[3], [7], [3]]), rand(3)], lambda x, i, u: x.index_add(0, i[:, 0], u),
         continued=put, use_locking=False)  # fmt: skip
case("ArgMaxGrad", [rand(3, 4), ints(4, 3).int(), rand(3)],
     lambda x, i, u: x.scatter(1, i[:, None].long(), u[:, None]), dimension=1)  # fmt: skip
case("ArgMaxGrad", [rand(3, 4), ints(3, 4).int(), rand(4)], lambda x, i, u: x.scatter(0, i[None].long(), u[None]),
     dimension=0)  # fmt: skip
case("SearchSorted", [rand(3, 7).sort(1).values, rand(3, 4)], torch.searchsorted, dtype=4, right=False)
case("Cummax", [rand(3, 7)], lambda x: tuple(x.cummax(1)), dim=1)
case("Cummin", [rand(3, 7)], lambda x: tuple(x.cummin(0)), axis=0)
case("Cumprod", [rand(3, 7), Host(1)], lambda x, _: x.cumprod(1), exclusive=False, reverse=False)
case("SortV2", [rand(3, 7)], lambda x: x.sort(-1, True).values, axis=-1, descending=True)
case("Bincount", [ints(5, 20).int(), Host(6, torch.int32), rand(20)], lambda x, _, w: torch.bincount(x, w, 6))
case("Bincount", [ints(5, 20).int(), Host(6, torch.int32), torch.ones(20, dtype=torch.int64)],
     lambda x, *_: torch.bincount(x, minlength=6))  # fmt: skip
case("Histogram", [rand(99)], lambda x: torch.histc(x, 7, -1, 1), bins=7, min=-1.0, max=1.0)
case("BiasAddGrad", [rand(2, 3, 4, 5)], lambda x: x.sum((0, 2, 3)), data_format="NCHW", summed=True)
case("ReduceLogSumExp", [rand(3, 4, 5), Host([0, 2])], lambda x, _: x.logsumexp((0, 2)), keep_dims=False)
for taken in (0, 1):
    case("ReduceStdWithMean", [rand(3, 4, 5), torch.zeros(3, 4, 5)], lambda x, _, n=taken: x.std((0, 2), correction=n),
         dim=[0, 2], unbiased=taken == 1, keepdim=False, correction=1)  # fmt: skip
    case("ReduceStdV2Update", [rand(3, 4, 5), torch.zeros(3, 4, 5)], lambda x, _, n=taken: x.var((0, 2), correction=n),
         dim=[0, 2], if_std=False, unbiased=taken == 1, keepdim=False, correction=1)  # fmt: skip
case("ReduceStdV2Update", [rand(3, 4, 5), torch.zeros(3, 4, 5)], lambda x, _: x.std((0, 2), keepdim=True), dim=[0, 2],
     if_std=True, unbiased=True, keepdim=True, correction=1)  # fmt: skip
case("ReduceStdWithMean", [rand(3, 4, 5), torch.zeros(3, 4, 5)],
     lambda x, _: 1 / (x.var((0, 2), correction=0) + 1e-3).sqrt(), dim=[0, 2], unbiased=False, keepdim=False,
     invert=True, epsilon=1e-3)  # fmt: skip
INFINITE = 2147483647.0
for p, sums, norm in [
    (2.0, lambda m: (m**2).sum(1), lambda s: s**0.5),
    (3.0, lambda m: (m**3).sum(1), lambda s: s ** (1 / 3)),
    (1.0, lambda m: m.sum(1), lambda s: s),
    (INFINITE, lambda m: m.amax(1), lambda s: s),
    (-INFINITE, lambda m: m.amin(1), lambda s: s),
    (0.0, lambda m: (m != 0).double().sum(1), lambda s: s),
]:
    case("LpNormReduceV2", [rand(3, 7)], lambda x, f=sums: f(x.abs()), p=p, axes=[1], keepdim=False, epsilon=0.0)
    case("LpNormUpdateV2", [rand(3, low=0.1)], norm, p=p, epsilon=0.0)
case("Renorm", [rand(3, 7)],
     lambda x: (x.renorm(2, 0, 2.0) / x)[:, :1], p=2.0, dim=0, maxnorm=2.0)  # fmt: skip
case("Trace", [rand(4, 6)], torch.trace)
for name in ("UniqueConsecutive", "UniqueWithCountsAndSorting", "UniqueWithCountsExt2"):
    CASES[name] = []  # their sizes depend on values: a test of their own

# --- matrices ---------------------------------------------------------------------------------------------------------

SQUARE = rand(2, 4, 4) + 4 * torch.eye(4)
case("MatrixInverse", [SQUARE], torch.linalg.inv, adjoint=False)
case("LogMatrixDeterminant", [SQUARE], lambda x: tuple(torch.linalg.slogdet(x)))
for lower, turned in ((True, False), (False, False), (True, True)):
    case("MatrixTriangularSolve", [SQUARE, rand(2, 4, 3)],
         lambda a, b, low=lower, t=turned: torch.linalg.solve_triangular(
             (a.tril() if low else a.triu()).mT if t else (a.tril() if low else a.triu()), b, upper=low == t),
         lower=lower, adjoint=turned)  # fmt: skip
case("Cross", [rand(4, 3), rand(4, 3)], lambda x, y: torch.linalg.cross(x, y, dim=1), dim=1)
case("Pdist", [rand(5, 3)], lambda x: F.pdist(x, 3.0), p=3.0)
CASES["Qr"] = CASES["Svd"] = []  # unique up to signs: a test of their own

# --- convolutions, pooling, images ------------------------------------------------------------------------------------


def transposed_cases(name, function, spatial, data_format):
    ones = [1, 1]
    x, w, b = rand(2, 4, *[4] * spatial), rand(4, 3, *[3] * spatial), rand(6)
    options = {"strides": ones + [2] * spatial, "pads": [1, 1] * spatial, "dilations": ones + [1] * spatial,
               "groups": 2, "data_format": data_format, "output_padding": ones + [0] * spatial,
               "summed": True}  # fmt: skip
    for extra in (0, 1):

        def forward(_, x, w, b=None, extra=extra):
            return function(x, w, b, stride=2, padding=1, output_padding=extra, groups=2)

        size = Host(list(forward(None, x, w).shape), torch.int32)
        case(name, [size, x, w, b], forward, **options)
        case(name, [size, x, w], forward, **options)


transposed_cases("Conv2DTranspose", F.conv_transpose2d, 2, "NCHW")
transposed_cases("Conv3DTranspose", F.conv_transpose3d, 3, "NCDHW")

DEPTH = {"strides": [1, 1, 2, 1], "pads": [1, 1, 0, 0], "dilations": [1, 1, 1, 2], "data_format": "NCHW",
         "summed": True}  # fmt: skip


def depthwise(x, w, b=None):
    return F.conv2d(x, w.transpose(0, 1), b, (2, 1), (1, 0), (1, 2), groups=x.shape[1])


for multiplier in (1, 2):
    x, w = rand(2, 3, 6, 7), rand(1, 3 * multiplier, 3, 2)
    grad = rand(*depthwise(x, w).shape)
    case("DepthwiseConv2D", [x, w, rand(3 * multiplier)], depthwise, **DEPTH)
    case("DepthwiseConv2D", [x, w], depthwise, **DEPTH)
    case("DepthwiseConv2DBackpropInput", [Host(list(x.shape), torch.int32), w, grad],
         lambda _, w, g: gradient(lambda image: depthwise(image, w))(g, torch.zeros(2, 3, 6, 7).to(g)),
         **DEPTH)  # fmt: skip
    case("DepthwiseConv2DBackpropFilter", [x, Host(list(w.shape), torch.int32), grad],
         lambda x, _, g, n=3 * multiplier: gradient(lambda weight: depthwise(x, weight.transpose(0, 1)))(
             g, torch.zeros(n, 1, 3, 2).to(g)), **DEPTH)  # fmt: skip

POOL = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "pads": [1, 1, 0, 1], "ceil_mode": True}


def pooled(x):
    return F.max_pool2d(x, (3, 2), (2, 2), (1, 0), ceil_mode=True)


IMAGE = rand(2, 3, 7, 9)
BITS = torch.zeros(2, 3, 6, 3, dtype=torch.int16)
case("MaxPoolWithArgmaxV1", [IMAGE], lambda x: (pooled(x), BITS), dilation=[1, 1, 1, 1], **POOL)
for word in ("dilation", "dilations"):
    case("MaxPoolGradWithArgmaxV1", [IMAGE, rand(*pooled(IMAGE).shape), BITS],
         lambda x, g, _: gradient(pooled)(g, x), **{word: [1, 1, 1, 1]}, **POOL)  # fmt: skip
CUBE = rand(2, 3, 6, 7, 5)
SPACE = {"strides": [1, 1, 2, 2, 1], "padding": "CALCULATED", "data_format": "NCDHW", "ksize": [1, 1, 3, 2, 2],
         "pads": [1, 1, 0, 1, 0, 0]}  # fmt: skip


def pooled_space(x):
    return F.max_pool3d(F.pad(x, (0, 0, 0, 1), value=-9), (3, 2, 2), (2, 2, 1), (1, 0, 0))


case("MaxPool3D", [CUBE], pooled_space, dilation=[1] * 5, ceil_mode=0, **SPACE)
case("MaxPool3DGrad", [CUBE, pooled_space(CUBE), rand(*pooled_space(CUBE).shape)],
     lambda x, _, g: gradient(pooled_space)(g, x), **SPACE)  # fmt: skip
MEAN = {"strides": [2, 2, 1], "pads": [1, 1, 0, 0, 1, 1], "ceil_mode": False, "data_format": "NCDHW"}
for counted in (False, True):

    def mean_space(x, counted=counted):
        return F.avg_pool3d(x, (3, 2, 2), (2, 2, 1), (1, 0, 1), False, counted)

    case("AvgPool3D", [CUBE], mean_space, ksize=[3, 2, 2], count_include_pad=counted, **MEAN)
    case("AvgPool3DGrad", [Host(list(CUBE.shape)), rand(*mean_space(CUBE).shape)],
         lambda _, g, f=mean_space: gradient(f)(g, torch.zeros_like(CUBE).to(g)), ksize=[1, 1, 3, 2, 2],
         count_include_pad=counted, **(MEAN | {"strides": [1, 1, 2, 2, 1]}))  # fmt: skip


def sampled_gradient(grad, x, grid, **options):
    x.requires_grad_(), grid.requires_grad_()
    return torch.autograd.grad(F.grid_sample(x, grid, **options), (x, grid), grad)


for spatial in (2, 3):
    x, grid = rand(2, 3, *[5] * spatial), rand(2, *[4] * spatial, spatial, low=-1.2, high=1.2)
    for way, edge, corners in (("bilinear", "zeros", True), ("nearest", "border", False)):
        options = {"mode": way, "padding_mode": edge, "align_corners": corners}
        attributes = {"interpolation_mode": way, "padding_mode": edge, "align_corners": corners}
        case(f"GridSampler{spatial}D", [x, grid], lambda x, g, o=options: F.grid_sample(x, g, **o), **attributes)
        case(f"GridSampler{spatial}DGrad", [rand(2, 3, *[4] * spatial), x, grid],
             lambda d, x, g, o=options: sampled_gradient(d, x, g, **o), **attributes)  # fmt: skip


def resized(size, **options):
    return lambda x, *_: F.interpolate(x, size, **options)


for name, shape, size, options, attributes in [
    ("ResizeNearestNeighborV2", (2, 3, 4, 5), (7, 3), {}, {"align_corners": False, "half_pixel_centers": False}),
    ("ResizeBilinearV2", (2, 3, 4, 5), (7, 3), {"mode": "bilinear"},
     {"align_corners": False, "half_pixel_centers": True}),
    ("ResizeBilinearV2", (2, 3, 4, 5), (7, 3), {"mode": "bilinear", "align_corners": True},
     {"align_corners": True, "half_pixel_centers": False}),
]:  # fmt: skip
    forward = resized(size, **options)
    case(name, [rand(*shape), Host(list(size), torch.int32)], forward, **attributes)
    told = Host(list(shape[2:]), torch.int32) if "Nearest" in name else rand(*shape)
    case(name + "Grad", [rand(*shape[:2], *size), told],
         lambda g, _, f=forward, s=shape: gradient(f)(g, torch.zeros(s).to(g)), **attributes)  # fmt: skip
for name, options, attributes in [
    ("UpsampleNearest3d", {}, {}),
    ("UpsampleTrilinear3d", {"mode": "trilinear", "align_corners": True}, {"align_corners": True}),
    ("UpsampleTrilinear3d", {"mode": "trilinear"}, {"align_corners": False}),
]:
    forward = resized((5, 2, 7), **options)
    case(name, [rand(2, 3, 3, 4, 5)], forward, output_size=[5, 2, 7], **attributes)
    case(name + "Grad", [rand(2, 3, 5, 2, 7)],
         lambda g, f=forward: gradient(f)(g, torch.zeros(2, 3, 3, 4, 5).to(g)), input_size=[2, 3, 3, 4, 5],
         output_size=[5, 2, 7], **attributes)  # fmt: skip
for corners, word in ((True, "align_corners"), (False, "half_pixel")):
    case("ResizeD", [rand(2, 3, 4, 5)], resized((7, 3), mode="bicubic", align_corners=corners), sizes=[7, 3],
         scales=[0.0, 0.0], roi=[], coordinate_transformation_mode=word, cubic_coeff_a=-0.75, exclude_outside=0,
         extrapolation_value=0.0, mode="cubic", nearest_mode="round_prefer_floor")  # fmt: skip
    line = resized(8, mode="linear", align_corners=corners)
    case("ResizeD", [rand(2, 3, 1, 5)], lambda x, f=line: f(x[:, :, 0]), sizes=[8],
         coordinate_transformation_mode=word, mode="linear", scales=[1.6])  # fmt: skip
    case("ResizeGradD", [rand(2, 3, 1, 8)],
         lambda g, f=line: gradient(f)(g[:, :, 0], torch.zeros(2, 3, 5).to(g)), original_size=[2, 3, 5],
         scales=[1.6], coordinate_transformation_mode=word, mode="linear")  # fmt: skip

# --- norms, losses ----------------------------------------------------------------------------------------------------


def groups(x, gamma, beta):
    return F.group_norm(x, 2, gamma, beta, 1e-3), x.reshape(2, 2, -1).mean(2), x.reshape(2, 2, -1).var(2, correction=0)


case("GroupNorm", [rand(2, 4, 3, 3), rand(4), rand(4)], groups, num_groups=2, eps=1e-3, is_training=True)
for swish in (False, True):

    def swished(x, gamma, beta, swish=swish):
        y, mean, variance = groups(x, gamma, beta)
        return F.silu(y) if swish else y, mean, 1 / (variance + 1e-3).sqrt()

    case("GroupNormSwish", [rand(2, 4, 3, 3), rand(4), rand(4)], swished, num_groups=2, eps=1e-3, activate_swish=swish)


def layers(x, gamma, beta):
    mean, variance = x.mean((1, 2), True), x.var((1, 2), correction=0, keepdim=True)
    return F.layer_norm(x, (3, 4), gamma, beta, 1e-5), mean, 1 / (variance + 1e-5).sqrt()


case("LayerNormV3", [rand(2, 3, 4), rand(3, 4), rand(3, 4)], layers, begin_norm_axis=1, begin_params_axis=1,
     epsilon=1e-5)  # fmt: skip


def roots(x, gamma):
    factor = 1 / (x.square().mean(-1, True) + 1e-3).sqrt()
    return x * factor * gamma, factor


case("RmsNorm", [rand(3, 8), rand(8)], roots, epsilon=1e-3)
case("AddRmsNorm", [rand(3, 8), rand(3, 8), rand(8)], lambda a, b, g: (*roots(a + b, g), a + b), epsilon=1e-3)


def roots_gradient(grad, x, _, gamma):
    x.requires_grad_(), gamma.requires_grad_()
    return torch.autograd.grad(roots(x, gamma)[0], (x, gamma), grad)


ROWS, GAMMA = rand(3, 8), rand(8)
case("RmsNormGrad", [rand(3, 8), ROWS, roots(ROWS, GAMMA)[1], GAMMA], roots_gradient)


def standard(x, gamma, beta):
    mean, factor = x.mean(-1, True), 1 / (x.var(-1, correction=0, keepdim=True) + 1e-3).sqrt()
    return (x - mean) * factor * gamma + beta, mean, factor


case("AddLayerNorm", [rand(3, 8), rand(3, 8), rand(8), rand(8)], lambda a, b, g, c: (*standard(a + b, g, c), a + b),
     epsilon=1e-3, additional_output=True)  # fmt: skip


def standard_gradient(grad, a, b, _, m, gamma, rest):
    x, gamma, beta = (a + b).requires_grad_(), gamma.requires_grad_(), torch.zeros_like(gamma, requires_grad=True)
    dx, dgamma, dbeta = torch.autograd.grad(standard(x, gamma, beta)[0], (x, gamma, beta), grad)
    return dx + rest, dgamma, dbeta


_, CENTRE, SCALE = standard(ROWS + ROWS, GAMMA, GAMMA)
case("AddLayerNormGrad", [rand(3, 8), ROWS, ROWS, SCALE, CENTRE, GAMMA, rand(3, 8)], standard_gradient)
case("DeepNorm", [rand(3, 8), rand(3, 8), rand(8), rand(8)],
     lambda x, gx, beta, gamma: (lambda y, m, r: (m, r, y))(*standard(0.5 * x + gx, gamma, beta)), alpha=0.5,
     epsilon=1e-3)  # fmt: skip


def deep_gradient(grad, x, gx, gamma, *_):
    x.requires_grad_(), gx.requires_grad_(), gamma.requires_grad_()
    beta = torch.zeros_like(gamma, requires_grad=True)
    y, *_ = standard(0.5 * x + gx, gamma, beta)
    return torch.autograd.grad(y, (x, gx, beta, gamma), grad)


_, CENTRE, SCALE = standard(1.5 * ROWS, GAMMA, GAMMA)
case("DeepNormGrad", [rand(3, 8), ROWS, ROWS, GAMMA, CENTRE, SCALE], deep_gradient, alpha=0.5)


def gathered(total, squares, count, mean, variance):
    n = count.sum()
    m = total.sum(0) / n
    v = squares.sum(0) / n - m * m
    return m, 1 / (v + 1e-3).sqrt(), 0.9 * mean + 0.1 * m, 0.9 * variance + 0.1 * v * n / (n - 1)


PART = rand(2, 9, 3)
SUMS = [PART.sum(1), PART.square().sum(1), torch.tensor([9, 9]).int()]
case("SyncBatchNormGatherStats", [*SUMS, rand(3), rand(3, low=0.5)], gathered, continued={2: 3, 3: 4}, momentum=0.1,
     eps=1e-3)  # fmt: skip

SURE, LABEL = rand(4, 5).log_softmax(1), rand(4, 5).softmax(1)
for word in (*MODES, "batchmean"):
    for logarithm in (False, True):
        target = LABEL.log() if logarithm else LABEL

        def divergence(x, t, word=word, logarithm=logarithm):
            return F.kl_div(x, t, reduction=word, log_target=logarithm)

        case("KLDiv", [SURE, target], divergence, reduction=word, log_target=logarithm)
        grad = rand(4, 5) if word == "none" else rand(1)[0]
        case("KlDivLossGrad", [grad, SURE, target],
             lambda g, x, t, f=divergence: gradient(lambda x: f(x, t))(g, x), reduction=word,
             log_target=logarithm)  # fmt: skip
for number, word in enumerate(MODES):
    sides = flags(4, 5).float() * 2 - 1
    case("SoftMarginLoss", [rand(4, 5), sides], lambda x, t, w=word: F.soft_margin_loss(x, t, reduction=w),
         reduction=word)  # fmt: skip
    grad = rand(4, 5) if word == "none" else rand(1)[0]
    case("SoftMarginLossGrad", [rand(4, 5), sides, grad],
         lambda x, t, g, w=word: gradient(lambda x: F.soft_margin_loss(x, t, reduction=w))(g, x),
         reduction=word)  # fmt: skip
    case("MultilabelMarginLoss", [rand(3, 4), torch.tensor([[1, 3, -1, 0], [0, -1, 2, 1], [2, 1, 0, 3]])],
         lambda x, t, w=number: tuple(torch.ops.aten.multilabel_margin_loss_forward(x, t, w)),
         reduction=word)  # fmt: skip
PROBABLE, LABELS = rand(6, 2, 5).log_softmax(2), ints(4, 2, 3) + 1
LENGTHS = [Host([6, 5]), Host([3, 2])]
# The blank's number carries the longest target: blank + 3 * classes.


def chances(log_probs, targets, *_):
    loss, alpha = torch.ops.aten._ctc_loss(log_probs, targets, [6, 5], [3, 2], 0, False)
    # What lies beyond a sample's own steps and labels torch leaves as it was.
    alpha[1, 5:], alpha[1, :, 5:] = -torch.inf, -torch.inf
    return loss, alpha


case("CTCLossV2", [PROBABLE, LABELS, *LENGTHS], chances, blank=15, zero_infinity=False)
LOSS, ALPHA = torch.ops.aten._ctc_loss(PROBABLE.double(), LABELS, [6, 5], [3, 2], 0, False)
case("CTCLossV2Grad", [rand(2), PROBABLE, LABELS, torch.tensor([6, 5]), torch.tensor([3, 2]), LOSS.float(),
                       ALPHA.float()],
     lambda g, p, t, i, n, loss, alpha: torch.ops.aten._ctc_loss_backward(g, p, t, [6, 5], [3, 2], loss, alpha, 0),
     blank=0, zero_infinity=False)  # fmt: skip
BAGS = torch.tensor([0, 2, 2]).int()
BAG_SIZES = torch.tensor([2, 0, 3]).int()


def bags(weight, indices, offsets, mode):
    out, _, _, best = torch.ops.aten._embedding_bag(weight, indices, offsets, False, mode)
    return out, torch.tensor([0, 0, 2, 2, 2]).int(), BAG_SIZES, best.int() if mode == 2 else BAG_SIZES


for number, word in enumerate(("sum", "mean", "max")):
    case("EmbeddingBag", [rand(6, 3), ints(6, 5).int(), BAGS], lambda w, i, o, m=number: bags(w, i, o, m), mode=word,
         scale_grad_by_freq=False, sparse=False, include_last_offset=False, padding_idx=-1)  # fmt: skip

# --- the overflow word, chance ----------------------------------------------------------------------------------------

case("NPUClearFloatDebugStatus", [], lambda: ())
case("NPUGetFloatDebugStatus", [], lambda: torch.zeros(8, dtype=torch.int32))
for name in ("StatelessBernoulli", "StatelessRandomNormalV2", "StatelessRandomUniformV2", "StatelessRandperm",
             "MultinomialWithReplacement"):  # fmt: skip
    CASES[name] = []  # random: a test of their own
