# SPDX-License-Identifier: Apache-2.0
"""Descriptions of the operator types that back ends of other frameworks (Paddle) ask for by name."""

import torch
import torch.nn.functional as F
from operator_case import case, gradient, ints, rand
from operator_type import Host

case("AddV2", [rand(4, 6), rand(6)], torch.add)
case("Inv", [rand(4, 6, low=0.5, high=2)], torch.reciprocal)
case("IsNan", [torch.tensor([1.0, float("nan"), float("inf"), -0.0])], torch.isnan)
case("Relu6", [rand(4, 6, low=-4, high=9)], F.relu6)
case("Relu6Grad", [rand(4, 6), rand(4, 6, low=-4, high=9)], gradient(F.relu6))
case("Fills", [rand(4, 6)], lambda x: torch.full_like(x, 2.5), value=2.5)
case("Expand", [rand(3, 1), Host([2, 3, 4])], lambda x, _: x.expand(2, 3, 4))
case("ExpandD", [rand(3, 1)], lambda x: x.expand(2, 3, 4), shape=[2, 3, 4])
case("UnsqueezeV2", [rand(3, 4)], lambda x: x[:, None], axis=[1])
case("Concat", [Host(1), rand(3, 2), rand(3, 4)], lambda _, *x: torch.cat(x, 1), N=2)
case("Split", [Host(1), rand(4, 6)], lambda _, x: x.chunk(3, 1), num_split=3)
case("SplitD", [rand(4, 6)], lambda x: x.chunk(2, -2), num_split=2, split_dim=-2)
for sizes in ([1, 3, 2], [1, -1, 2], [0, 6, 0]):
    parts = [n if n >= 0 else 6 - sum(sizes) - 1 for n in sizes]
    case("SplitV", [rand(4, 6), Host(sizes), Host(1)], lambda x, *_, n=parts: x.split(n, 1), num_split=3)
    case("SplitVD", [rand(4, 6)], lambda x, n=parts: x.split(n, 1), size_splits=sizes, split_dim=1, num_split=3)
case("Unpack", [rand(3, 4, 2)], lambda x: x.unbind(1), axis=1, num=4)
case("Unpack", [rand(3)], lambda x: x.unbind(0), num=3)
case("RollV2", [rand(3, 4), Host([1, -2]), Host([0, 1])], lambda x, *_: x.roll((1, -2), (0, 1)))
case("ApplyGradientDescent", [rand(5), torch.tensor(0.25), rand(5)], lambda var, alpha, delta: var - alpha * delta,
     continued=[(0, 0)])  # fmt: skip
case("SmoothL1Loss", [rand(9), rand(9)], lambda x, y: F.smooth_l1_loss(x, y, reduction="none"), sigma=1.0)
case("SmoothL1LossGrad", [rand(9), rand(9), rand(9)],
     lambda x, y, g: gradient(lambda t: F.smooth_l1_loss(t, y, reduction="none"))(g, x), sigma=1.0)  # fmt: skip
for p, axes, keep in ((2, [1], True), (1, [0, 1], False), (2147483647, [0], False)):
    case("LpNorm", [rand(3, 4)], lambda x, p=p, axes=axes, keep=keep: torch.linalg.vector_norm(
         x, float("inf") if p > 9 else p, axes, keep), p=p, axes=axes, keepdim=keep, epsilon=1e-12)  # fmt: skip


def cumsum(x, exclusive, reverse):
    turned = x.flip(1) if reverse else x
    sums = turned.cumsum(1) - (turned if exclusive else 0)
    return sums.flip(1) if reverse else sums


for exclusive in (False, True):
    for reverse in (False, True):
        options = {"exclusive": exclusive, "reverse": reverse}
        case("CumsumD", [rand(3, 4)], lambda x, o=options: cumsum(x, **o), axis=1, **options)
        case("Cumsum", [rand(3, 4), Host(1)], lambda x, _, o=options: cumsum(x, **o), **options)

# --- places by index --------------------------------------------------------------------------------------------------

AT = torch.tensor([[2, 1], [0, 3]])
case("GatherNd", [rand(3, 4), AT], lambda x, at: x[tuple(at.unbind(-1))])
case("TensorScatterUpdate", [rand(3, 4), AT, rand(2)], lambda x, at, new: x.index_put(tuple(at.unbind(-1)), new))
case("TensorScatterAdd", [rand(3, 4), AT, rand(2)],
     lambda x, at, new: x.index_put(tuple(at.unbind(-1)), new, accumulate=True))  # fmt: skip
case("ScatterAddWithAxis", [rand(3, 4), ints(3, 2, 4), rand(2, 4)], lambda x, at, new: x.scatter_add(0, at, new),
     axis=0, continued=[(0, 0)])  # fmt: skip
case("UnsortedSegmentSum", [rand(4, 3), torch.tensor([1, 0, 1, 1]), Host(3)],
     lambda x, at, _: x.new_zeros(3, 3).index_add(0, at, x))  # fmt: skip


def assigned(x, begin, end, strides, value):
    x[1:3, 0:4:1] = value
    return x


case("StridedSliceAssign", [rand(4, 5), Host([1, 0]), Host([3, 4]), Host([1, 1]), rand(2, 4)], assigned,
     continued=[(0, 0)], begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)  # fmt: skip

# --- convolutions -----------------------------------------------------------------------------------------------------

X, W = rand(2, 3, 5, 6, 4), rand(4, 3, 2, 3, 1)
Y = F.conv3d(X, W, padding=(1, 0, 1))
VOLUME = {"strides": [1, 1, 1, 1, 1], "pads": [1, 1, 0, 0, 1, 1], "dilations": [1, 1, 1, 1, 1], "groups": 1,
          "data_format": "NCDHW"}  # fmt: skip
case("Conv3DBackpropInputD", [W, torch.ones_like(Y)],
     lambda w, g: gradient(lambda x: F.conv3d(x, w, padding=(1, 0, 1)))(g, X.to(w.dtype)), summed=True,
     input_size=[2, 3, 5, 6, 4], **VOLUME)  # fmt: skip
case("Conv3DBackpropFilterD", [X, torch.ones_like(Y)],
     lambda x, g: gradient(lambda w: F.conv3d(x, w, padding=(1, 0, 1)))(g, W.to(x.dtype)), summed=True,
     filter_size=[4, 3, 2, 3, 1], **VOLUME)  # fmt: skip
