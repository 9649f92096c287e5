# SPDX-License-Identifier: Apache-2.0
"""Every type of acl/singleop/operator_types.tsv runs against torch on the CPU in float64."""

import ctypes as C

import operator_types_older  # noqa: F401  # its descriptions
import operator_types_rest  # noqa: F401
import pytest
import torch
import torch.nn.functional as F
from case import compare, magnitude
from deformed import laid_out
from operator_case import CASES, GENERATOR, case, flags, gradient, ints, numbers, rand
from operator_type import Host, Side, call, types

from device import LIB, CallError, Device, check


def wide(value):
    value = value.tensor if isinstance(value, Host) else value
    return value.double() if value is not None and value.is_floating_point() else value


def narrow(result):
    return result.float() if result.is_floating_point() else result


def results(c, seen):
    """What the oracle makes of copies: one that changes its inputs changes its own."""
    made = c.oracle(*[v.clone() if isinstance(v, torch.Tensor) else v for v in map(seen, c.inputs)])
    return made if isinstance(made, tuple) else (made,)


@pytest.fixture(scope="module")
def device():
    return Device()


@pytest.mark.promise("more than 200 operator types of aclopCompileAndExecute, each against torch on the CPU")
@pytest.mark.parametrize("name", sorted(types()))
def test_type(device, name):
    assert name in CASES, f"describe {name} here"
    for c in CASES[name]:
        want = results(c, wide)
        terms = results(c, lambda v: magnitude(wide(v))) if c.summed else [None] * len(want)
        prototypes = [narrow(torch.zeros_like(w, memory_format=torch.contiguous_format)) for w in want]
        got = call(device, name, c.inputs, prototypes, c.attributes, c.continued, c.wait)
        device.release()
        for index, (g, w, t) in enumerate(zip(got, want, terms, strict=True)):
            compare(f"{name}[{index}]", g, w, terms=t)


# --- one element after the other --------------------------------------------------------------------------------------

for types_, function, low, high in [
    ("Abs", torch.abs, -2, 2),
    ("Acos", torch.acos, -1, 1),
    ("Acosh", torch.acosh, 1, 3),
    ("Asin", torch.asin, -1, 1),
    ("Asinh", torch.asinh, -2, 2),
    ("Atan", torch.atan, -2, 2),
    ("Atanh", torch.atanh, -0.9, 0.9),
    ("Ceil", torch.ceil, -2, 2),
    ("Cos", torch.cos, -2, 2),
    ("Cosh", torch.cosh, -2, 2),
    ("Erf", torch.erf, -2, 2),
    ("Erfc", torch.erfc, -2, 2),
    ("Erfinv", torch.erfinv, -0.9, 0.9),
    ("Exp", torch.exp, -2, 2),
    ("Expm1", torch.expm1, -2, 2),
    ("Floor", torch.floor, -2, 2),
    ("Log", torch.log, 0.1, 2),
    ("Log1p", torch.log1p, -0.9, 2),
    ("Neg", torch.neg, -2, 2),
    ("Reciprocal", torch.reciprocal, 0.1, 2),
    ("Rsqrt", torch.rsqrt, 0.1, 2),
    ("Sqrt", torch.sqrt, 0, 2),
    ("Square", torch.square, -2, 2),
    ("Sign", torch.sign, -2, 2),
    ("Sin", torch.sin, -2, 2),
    ("Sinh", torch.sinh, -2, 2),
    ("Tan", torch.tan, -1, 1),
    ("Tanh", torch.tanh, -2, 2),
    ("Trunc", torch.trunc, -3, 3),
    ("Relu", torch.relu, -2, 2),
    ("Sigmoid", torch.sigmoid, -2, 2),
    ("LogSigmoid", F.logsigmoid, -2, 2),
    ("Swish", F.silu, -2, 2),
    ("Mish", F.mish, -2, 2),
    ("HardSwish", F.hardswish, -4, 4),
    ("Gelu", lambda x: F.gelu(x, approximate="tanh"), -2, 2),
    ("FastGelu", lambda x: x * torch.sigmoid(1.702 * x), -2, 2),
    ("Identity TensorMove", torch.clone, -2, 2),
    ("IsFinite", torch.isfinite, -2, 2),
]:
    case(types_, [rand(3, 5, low=low, high=high)], function)
case("Cast", [ints(9, 7)], lambda x: x.float(), dst_type=0)
case("Round", [rand(9, high=9)], torch.round, decimals=0)
case("Round", [rand(9, high=9)], lambda x: torch.round(x, decimals=1), decimals=1)
case("SoftplusV2", [rand(9)], lambda x: F.softplus(x, 2, 1), beta=2.0, threshold=1.0)
case("Elu", [rand(9)], lambda x: F.elu(x, 0.5), alpha=0.5, scale=1.0, input_scale=1.0)
case("LeakyRelu", [rand(9)], lambda x: F.leaky_relu(x, 0.25), negative_slope=0.25)
case("Muls", [rand(9)], lambda x: x * 1.5, value=1.5)
case("Adds", [rand(9)], lambda x: x + 1.5, value=1.5)
case("ClipByValue ClipByValueV2", [rand(9), Host(-1.0, torch.float32), Host(0.5, torch.float32)],
     lambda x, low, high: x.clamp(-1, 0.5))  # fmt: skip
case("LogicalNot", [flags(9)], torch.logical_not)
case("Invert", [ints(99, 9)], torch.bitwise_not)

for types_, function in [
    ("Add", torch.add),
    ("Sub", torch.sub),
    ("Mul", torch.mul),
    ("Div RealDiv", torch.div),
    ("Maximum", torch.maximum),
    ("Minimum", torch.minimum),
    ("Atan2", torch.atan2),
    ("FloorDiv", torch.floor_divide),
    ("FloorMod", torch.remainder),
    ("Mod", torch.fmod),
    ("DivNoNan", torch.div),
    ("SquaredDifference", lambda x, y: (x - y) ** 2),
    ("Greater", torch.gt),
    ("GreaterEqual", torch.ge),
    ("Less", torch.lt),
    ("LessEqual", torch.le),
    ("NotEqual", torch.ne),
]:
    case(types_, [rand(4, 3), rand(3, low=0.5)], function)
case("Add Mul", [rand(4, 3), Host(1.5, torch.float32)], lambda x, y: x + y)
CASES["Mul"].pop()
case("Mul", [rand(4, 3), Host(1.5, torch.float32)], torch.mul)
case("DivNoNan", [rand(3), torch.zeros(3)], lambda x, y: torch.zeros(3, dtype=torch.float64))
case("Equal", [ints(3, 20), ints(3, 20)], torch.eq)
case("Pow", [rand(9, low=0.1), rand(9)], torch.pow)
case("Xlogy", [rand(9), rand(9, low=0.1)], torch.xlogy)
case("LogicalAnd", [flags(9), flags(9)], torch.logical_and)
case("LogicalOr", [flags(9), flags(9)], torch.logical_or)
case("BitwiseAnd", [ints(99, 9), ints(99, 9)], torch.bitwise_and)
case("BitwiseOr", [ints(99, 9), ints(99, 9)], torch.bitwise_or)
case("BitwiseXor", [ints(99, 9), ints(99, 9)], torch.bitwise_xor)
case("AxpyV2", [rand(9), rand(9), Host(-0.5, torch.float32)], lambda x, y, a: x - 0.5 * y)
case("Axpy", [rand(9), rand(9)], lambda x, y: x - 0.5 * y, alpha=-0.5)
case("Addcmul", [rand(9), rand(9), rand(9), Host(0.5, torch.float32)], lambda x, a, b, v: x + 0.5 * a * b)
case("Addcdiv", [rand(9), rand(9), rand(9, low=0.5), Host(0.5, torch.float32)], lambda x, a, b, v: x + 0.5 * a / b)
case("Lerp", [rand(9), rand(9), rand(9, low=0, high=1)], torch.lerp)
case("Select SelectV2", [flags(9), rand(9), rand(9)], torch.where)
case("MaskedFill", [rand(9), flags(9), torch.tensor(0.5)], lambda x, mask, v: x.masked_fill(mask, 0.5))
CASES["MaskedSelect"] = CASES["NonZero"] = []  # their sizes depend on values: a test of their own below


for types_, function in [
    ("ReluGrad", torch.relu),
    ("SiluGrad", F.silu),
    ("MishGrad", F.mish),
    ("FastGeluGrad", lambda x: x * torch.sigmoid(1.702 * x)),
]:
    case(types_, [rand(4, 5), rand(4, 5)], gradient(function))
case("MishGrad", [rand(9), rand(9), rand(9)], gradient(F.mish))
case("SwishGrad", [rand(9), rand(9), rand(9)], gradient(F.silu), scale=1.0)
case("GeluGrad", [rand(9), rand(9), rand(9)], gradient(lambda x: F.gelu(x, approximate="tanh")))
case("ThresholdGradV2D", [rand(9), rand(9)], gradient(lambda x: F.threshold(x, 0.5, 0)), threshold=0.5)
case("LeakyReluGrad", [rand(9), rand(9)], gradient(lambda x: F.leaky_relu(x, 0.25)), negative_slope=0.25)
case("TanhGrad", [rand(9), rand(9)], lambda y, dy: dy * (1 - y * y))
case("SigmoidGrad", [rand(9), rand(9)], lambda y, dy: dy * y * (1 - y))
case("SqrtGrad", [rand(9, low=0.5), rand(9)], lambda y, dy: dy * 0.5 / y)
case("RsqrtGrad", [rand(9, low=0.5), rand(9)], lambda y, dy: dy * -0.5 * y**3)
case("ReciprocalGrad", [rand(9), rand(9)], lambda y, dy: -dy * y * y)

# --- shapes -----------------------------------------------------------------------------------------------------------

case("AsStrided", [rand(4, 6), Host([3, 2]), Host([6, 2]), Host([1])],
     lambda x, *_: x.as_strided((3, 2), (6, 2), 1).clone())  # fmt: skip
case("AsStrided", [rand(4, 6), Host([6]), Host([0])], lambda x, *_: x.as_strided((6,), (0,)).clone())


def view_copy(to, size, stride, offset, source, *_):
    to.as_strided((2, 3), (1, 4), 2).copy_(source.as_strided((2, 3), (3, 1), 1))
    return to


case("ViewCopy", [rand(3, 5), Host([2, 3]), Host([1, 4]), Host(2), rand(9), Host([2, 3]), Host([3, 1]), Host(1)],
     view_copy, continued={0: 0})  # fmt: skip
# An output in another memory than the input it continues holds what the input held, changed.
case("ViewCopy", [rand(3, 5), Host([2, 3]), Host([1, 4]), Host(2), rand(9), Host([2, 3]), Host([3, 1]), Host(1)],
     view_copy)  # fmt: skip
case("BroadcastTo", [rand(3, 1), Host([2, 3, 4])], lambda x, s: x.expand(2, 3, 4).clone())
case("BroadcastToD", [rand(3, 1)], lambda x: x.expand(2, 3, 4).clone(), shape=[2, 3, 4])
case("Fill", [Host([2, 3]), Host(1.5, torch.float32)], lambda s, v: torch.full((2, 3), 1.5))
case("FillD", [torch.tensor([1.5])], lambda v: torch.full((2, 3), 1.5), dims=[2, 3])
case("ZerosLike", [rand(4)], torch.zeros_like)
case("OnesLike", [rand(4)], torch.ones_like)
for axis in (0, 1, 2, -1):
    case("Flatten", [rand(2, 3, 4)], lambda x, axis=axis: x.reshape(x.shape[:axis].numel(), -1), axis=axis)
case("Flatten", [rand(2, 3, 4)], lambda x: x.reshape(2, -1))
case("Reshape", [rand(4, 6), Host([3, 8])], lambda x, s: x.reshape(3, 8))
case("Transpose", [rand(2, 3, 4), Host([2, 0, 1])], lambda x, p: x.permute(2, 0, 1).contiguous())
case("TransposeD", [rand(2, 3, 4)], lambda x: x.permute(2, 0, 1).contiguous(), perm=[2, 0, 1])
case("Slice", [rand(4, 6), Host([1, 2]), Host([2, -1])], lambda x, *_: x[1:3, 2:].clone())
case("SliceD", [rand(4, 6)], lambda x: x[1:3, 2:5].clone(), offsets=[1, 2], size=[2, 3])
case("StridedSlice", [rand(4, 6), Host([1, 0]), Host([4, 6]), Host([2, 3])], lambda x, *_: x[1:4:2, ::3].clone(),
     begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)  # fmt: skip
case("StridedSlice", [rand(4, 6), Host([2, 1]), Host([3, 0]), Host([1, 2])], lambda x, *_: x[2, 1::2].clone(),
     end_mask=2, shrink_axis_mask=1)  # fmt: skip
case("Pad", [rand(2, 3), Host([[1, 0], [2, 3]])], lambda x, p: F.pad(x, (2, 3, 1, 0)))
case("PadD", [rand(2, 3)], lambda x: F.pad(x, (2, 3, 1, 0)), paddings=[1, 0, 2, 3])
case("PadV3", [rand(2, 3), Host([1, 0, 2, 3]), torch.tensor([0.5])], lambda x, *_: F.pad(x, (2, 3, 1, 0), value=0.5),
     mode="constant", paddings_contiguous=True)  # fmt: skip
case("ConcatD ConcatV2D", [rand(2, 3), rand(2, 1), rand(2, 2)], lambda *x: torch.cat(x, 1), N=3, concat_dim=1)
case("ConcatV2", [rand(2, 3), rand(2, 1), Host(1)], lambda a, b, _: torch.cat([a, b], 1), N=2)
case("Pack", [rand(2, 3), rand(2, 3)], lambda *x: torch.stack(x, 1), N=2, axis=1)
case("Tile", [rand(2, 3), Host([2, 2])], lambda x, m: x.repeat(2, 2))
case("TileD", [rand(2, 3)], lambda x: x.repeat(2, 2), multiples=[2, 2])
case("ReverseV2", [rand(2, 3), Host([1])], lambda x, axis: x.flip(1))
case("Roll", [rand(2, 3)], lambda x: x.roll(1, 1), shifts=[1], dims=[1])
case("Tril", [rand(4, 5)], lambda x: x.tril(1), diagonal=1)
case("Triu", [rand(4, 5)], lambda x: x.triu(-1), diagonal=-1)
case("Eye", [], lambda: torch.eye(3, 4), num_rows=3, num_columns=4, batch_shape=[], dtype=0)
case("Range", [Host(1.0, torch.float32), Host(4.0, torch.float32), Host(0.5, torch.float32)],
     lambda *_: torch.arange(1, 4, 0.5))  # fmt: skip

case("LinSpace", [Host(1.0, torch.float32), Host(4.0, torch.float32), Host(7)], lambda *_: torch.linspace(1, 4, 7))

# --- indices, sums, order ---------------------------------------------------------------------------------------------

case("GatherV2", [rand(5, 3), ints(5, 7), Host([0])], lambda x, i, _: x[i], batch_dims=0)
case("GatherV2D", [rand(5, 3), ints(3, 4)], lambda x, i: x[:, i].contiguous(), axis=1)
for word in ("none", "add"):
    AT = torch.stack([torch.randperm(5, generator=GENERATOR)[:2] for _ in range(3)], 1)
    case("ScatterElements", [rand(5, 3), AT, rand(2, 3)],
         lambda x, i, u, word=word: x.scatter(0, i, u) if word == "none" else x.scatter_add(0, i, u), axis=0,
         reduction=word)  # fmt: skip
case("InplaceIndexAdd", [rand(3, 5), ints(5, 4).int(), rand(3, 4), Host(0.5, torch.float32)],
     lambda x, i, u, a: x.index_add(1, i, u, alpha=0.5), continued={0: 0}, axis=1)  # fmt: skip
case("GatherElements", [rand(5, 3), ints(5, 2, 3)], lambda x, i: x.gather(0, i), dim=0)
case("EmbeddingDenseGrad", [rand(6, 3), ints(4, 6)], lambda g, i: torch.zeros(4, 3, dtype=g.dtype).index_add_(0, i, g),
     num_weights=4, padding_idx=-1, scale_grad_by_freq=False)  # fmt: skip
case("OneHot", [ints(4, 6), Host(4), torch.tensor([1.0]), torch.tensor([0.0])],
     lambda i, *_: F.one_hot(i, 4).double(), axis=-1)  # fmt: skip
for types_, function, dtype in [
    ("ReduceSum", torch.sum, None),
    ("ReduceMean", torch.mean, None),
    ("ReduceMax", torch.amax, None),
    ("ReduceMin", torch.amin, None),
    ("ReduceAll", torch.all, bool),
    ("ReduceAny", torch.any, bool),
]:
    x = rand(3, 4, 5) if dtype is None else ints(9, 3, 4, 5) > 0
    case(types_, [x, Host([0, 2])], lambda x, _, f=function: f(x, (0, 2)), keep_dims=False)
    case(types_ + "D", [x], lambda x, f=function: f(x, (0, 2), keepdim=True), keep_dims=True, axes=[0, 2])
case("ReduceProd", [rand(3, 4), Host([1])], lambda x, _: x.prod(1))
case("ReduceProdD", [rand(3, 4)], lambda x: x.prod(1), axes=[1])
case("ArgMaxV2", [rand(3, 4), Host([1])], lambda x, _: x.argmax(1))
case("ArgMin", [rand(3, 4), Host([1])], lambda x, _: x.argmin(1))
case("ArgMaxV2", [rand(3, 4), Host([1])], lambda x, _: x.argmax(1, True), keep_dims=True)
case("ArgMin", [rand(3, 4), Host([1])], lambda x, _: x.argmin(1, True), keep_dims=True)
case("ArgMaxWithValue", [rand(3, 4)], lambda x: (x.argmax(1, True), x.amax(1, True)), dimension=1, keep_dims=True)
case("ArgMinWithValue", [rand(3, 4)], lambda x: (x.argmin(0), x.amin(0)), dimension=0, keep_dims=False)
case("Sort", [rand(3, 4)], lambda x: tuple(x.sort(-1, True)), axis=-1, descending=True)
case("TopKV2", [rand(3, 7), Host(2)], lambda x, _: tuple(x.topk(2)), sorted=True, dim=-1, largest=True)

# --- rows, losses -----------------------------------------------------------------------------------------------------

case("SoftmaxV2 Softmax", [rand(3, 7)], lambda x: x.softmax(1), axes=[1])
case("LogSoftmaxV2", [rand(3, 7)], lambda x: x.log_softmax(0), axes=[0])
case("SoftmaxGrad", [rand(3, 7, low=0, high=1), rand(3, 7)], lambda y, g: y * (g - (y * g).sum(1, True)), axes=[1])
case("LogSoftmaxGrad", [rand(3, 7), rand(3, 7)], lambda g, y: g - y.exp() * g.sum(1, True), axis=[1])


def softmax_cross_entropy(x, labels):
    x.requires_grad_()
    loss = -(labels * x.log_softmax(1)).sum(1)
    return loss.detach(), torch.autograd.grad(loss.sum(), x)[0]


case("SoftmaxCrossEntropyWithLogits", [rand(5, 7), F.one_hot(ints(7, 5), 7).float()], softmax_cross_entropy)
TARGET, WEIGHT = ints(7, 5).int(), rand(7, low=0.1)
MODES = ("none", "mean", "sum")
for word in MODES:
    case("NLLLoss", [rand(5, 7), TARGET, WEIGHT],
         lambda x, t, w, word=word: torch.ops.aten.nll_loss_forward(x, t.long(), w, MODES.index(word), -100),
         reduction=word, ignore_index=-100)  # fmt: skip

    def nll_gradient(x, grad, target, weight, _, word=word):
        x.requires_grad_()
        return torch.autograd.grad(F.nll_loss(x, target.long(), weight, reduction=word), x, grad)[0]

    grad = rand(5) if word == "none" else rand(1)[0]
    case("NLLLossGrad", [rand(5, 7), grad, TARGET, WEIGHT, WEIGHT[TARGET.long()].sum()], nll_gradient, reduction=word,
         ignore_index=-100)  # fmt: skip
    for types_, function, options in [
        ("MseLoss", F.mse_loss, {}),
        ("LpLoss", F.l1_loss, {"p": 1}),
        (
            "SmoothL1LossV2",
            lambda x, t, reduction: F.smooth_l1_loss(x, t, reduction=reduction, beta=0.5),
            {"sigma": 0.5},
        ),
    ]:
        case(types_, [rand(4, 5), rand(4, 5)], lambda x, t, f=function, word=word: f(x, t, reduction=word),
             reduction=word, **options)  # fmt: skip

        def loss_gradient(x, target, grad, f=function, word=word):
            x.requires_grad_()
            return torch.autograd.grad(f(x, target, reduction=word), x, grad)[0]

        back = {"MseLoss": "MseLossGrad", "SmoothL1LossV2": "SmoothL1LossGradV2"}.get(types_)
        shaped = rand(4, 5) if word == "none" else rand(1)[0]
        if back:
            case(back, [rand(4, 5), rand(4, 5), shaped], loss_gradient, reduction=word, **options)
        else:
            case("L1LossGrad", [shaped, rand(4, 5), rand(4, 5)], lambda g, x, t, f=loss_gradient: f(x, t, g),
                 reduction=word)  # fmt: skip
    SURE, LABEL = rand(4, 5, low=0.1, high=0.9), flags(4, 5).float()
    case("BinaryCrossEntropy", [SURE, LABEL, rand(4, 5, low=0)],
         lambda x, t, w, word=word: F.binary_cross_entropy(x, t, w, reduction=word), reduction=word)  # fmt: skip
    case("SigmoidCrossEntropyWithLogitsV2", [rand(4, 5), LABEL, rand(4, 5, low=0), rand(5, low=0.5)],
         lambda x, t, w, p, word=word: F.binary_cross_entropy_with_logits(x, t, w, reduction=word, pos_weight=p),
         reduction=word)  # fmt: skip
    shaped = rand(4, 5) if word == "none" else rand(1)[0]

    def bce_gradient(x, target, grad, weight, word=word):
        x.requires_grad_()
        return torch.autograd.grad(F.binary_cross_entropy(x, target, weight, reduction=word), x, grad)[0]

    def logit_gradient(x, target, grad, weight, positive, word=word):
        x.requires_grad_()
        loss = F.binary_cross_entropy_with_logits(x, target, weight, reduction=word, pos_weight=positive)
        return torch.autograd.grad(loss, x, grad)[0]

    case("BinaryCrossEntropyGrad", [SURE, LABEL, shaped, rand(4, 5, low=0)], bce_gradient, reduction=word)
    case("SigmoidCrossEntropyWithLogitsGradV2", [rand(4, 5), LABEL, shaped, rand(4, 5, low=0), rand(5, low=0.5)],
         logit_gradient, reduction=word)  # fmt: skip

# --- products ---------------------------------------------------------------------------------------------------------

case("MatMul MatMulV2", [rand(3, 4), rand(4, 5)], torch.mm, transpose_x1=False, transpose_x2=False)
case("MatMul MatMulV2", [rand(4, 3), rand(5, 4), rand(5)], lambda a, b, c: a.t() @ b.t() + c, transpose_x1=True,
     transpose_x2=True)  # fmt: skip
case(
    "GEMM",
    [rand(4, 3), rand(4, 5), rand(3, 5), torch.tensor(0.5), torch.tensor(2.0)],
    lambda a, b, c, alpha, beta: beta * c + alpha * (a.t() @ b),
    transpose_a=True,
    transpose_b=False,
)
case("BatchMatMul BatchMatMulV2", [rand(2, 4, 3), rand(2, 4, 5)], lambda a, b: a.mT @ b, adj_x1=True, adj_x2=False)
case("Dot", [rand(9), rand(9)], torch.dot)


def convolution_cases(spatial, function):
    ones = [1, 1]
    options = {"strides": ones + [2] * spatial, "pads": [1, 1] * spatial, "dilations": ones + [1] * spatial,
               "groups": 2, "data_format": "NCHW" if spatial == 2 else "NCDHW", "summed": True}  # fmt: skip
    x, w, b = rand(2, 4, *[6] * spatial), rand(6, 2, *[3] * spatial), rand(6)

    def forward(x, w, b=None):
        return function(x, w, b, stride=2, padding=1, groups=2)

    grad = rand(*forward(x, w).shape)
    sizes = [Host(list(x.shape), torch.int32), Host(list(w.shape), torch.int32)]
    case(f"Conv{spatial}D", [x, w, b], forward, **options)
    case(f"Conv{spatial}D", [x, w], forward, **options)
    case(f"Conv{spatial}DBackpropInput", [sizes[0], w, grad],
         lambda _, w, g: gradient(lambda x: forward(x, w))(g, x.double()), **options)  # fmt: skip
    case(f"Conv{spatial}DBackpropFilter", [x, sizes[1], grad],
         lambda x, _, g: gradient(lambda w: forward(x, w))(g, w.double()), **options)  # fmt: skip


convolution_cases(2, F.conv2d)
convolution_cases(3, F.conv3d)


def padded_on_both_sides(x, w):
    return F.conv2d(F.pad(x, (2, 1, 0, 1)), w)


UNEVEN = {"strides": [1] * 4, "pads": [0, 1, 2, 1], "summed": True}
x, w = rand(2, 4, 6, 6), rand(6, 4, 3, 3)
grad = rand(*padded_on_both_sides(x, w).shape)
case("Conv2D", [x, w], padded_on_both_sides, **UNEVEN)
case("Conv2DBackpropInput", [Host(list(x.shape), torch.int32), w, grad],
     lambda _, w, g: gradient(lambda x: padded_on_both_sides(x, w))(g, torch.zeros(2, 4, 6, 6).to(g)),
     **UNEVEN)  # fmt: skip
case("Conv2DBackpropFilter", [x, Host(list(w.shape), torch.int32), grad],
     lambda x, _, g: gradient(lambda w: padded_on_both_sides(x, w))(g, torch.zeros(6, 4, 3, 3).to(g)),
     **UNEVEN)  # fmt: skip


def as_in_onnx(spatial, function):
    """With ONNX's own attributes, as onnxruntime calls it: the pads before all axes come first."""
    before, behind = list(range(spatial)), [2, 1, 0][:spatial]
    ends = [end for pair in zip(reversed(before), reversed(behind), strict=True) for end in pair]
    x, w, b = rand(2, 4, *[6] * spatial), rand(6, 2, *[3] * spatial), rand(6)
    for inputs in ([x, w, b], [x, w, None]):
        case("Conv3D" if spatial == 3 else "Conv2D", inputs,
             lambda x, w, b=None: function(F.pad(x, ends), w, b, stride=2, groups=2), summed=True,
             strides=[1, 1] + [2] * spatial, pads=before + behind, dilations=[1] * (spatial + 2), group=2,
             auto_pad="NOTSET", dim_size=spatial + 2, trans_2d=spatial < 3)  # fmt: skip


as_in_onnx(1, F.conv1d)
as_in_onnx(2, F.conv2d)
as_in_onnx(3, F.conv3d)
POOL = {"ksize": [1, 1, 3, 2], "strides": [1, 1, 2, 1], "padding_mode": "CALCULATED", "pads": [1, 1, 1, 1],
        "data_format": "NCHW", "global_pooling": False, "ceil_mode": False}  # fmt: skip
for exclusive in (False, True):

    def pool(x, exclusive=exclusive):
        return F.avg_pool2d(x, (3, 2), (2, 1), (1, 1), count_include_pad=not exclusive)

    case("AvgPoolV2", [rand(2, 3, 6, 6)], pool, exclusive=exclusive, divisor_override=0, **POOL)
    grad = rand(*pool(rand(2, 3, 6, 6)).shape)
    case("AvgPoolV2Grad", [Host([2, 3, 6, 6]), grad],
         lambda _, g, pool=pool: gradient(pool)(g, torch.zeros(2, 3, 6, 6, dtype=g.dtype)), exclusive=exclusive,
         **POOL)  # fmt: skip
WINDOW = {"ksize": [1, 1, 3, 2], "strides": [1, 1, 2, 2], "data_format": "NCHW"}
PADS = {"SAME": (0, 1, 0, 1), "VALID": (0, 0, 0, 0), "CALCULATED": (1, 0, 0, 1)}  # of 6 x 7: as F.pad takes them
for mode, (left, right, top, bottom) in PADS.items():

    def mean_window(x, pads=(left, right, top, bottom)):
        return F.avg_pool2d(F.pad(x, pads), (3, 2), (2, 2))

    def largest_window(x, pads=(left, right, top, bottom)):
        return F.max_pool2d(F.pad(x, pads, value=-torch.inf), (3, 2), (2, 2))

    image = rand(2, 3, 6, 7)
    given = {"padding_mode": mode, "pads": [top, bottom, left, right], **WINDOW}
    case("AvgPoolV2", [image], mean_window, exclusive=False, **given)
    case("AvgPoolV2Grad", [Host([2, 3, 6, 7]), rand(*mean_window(image).shape)],
         lambda _, g, pool=mean_window: gradient(pool)(g, torch.zeros(2, 3, 6, 7).to(g)), exclusive=False,
         **given)  # fmt: skip
    case("MaxPoolV3", [image], largest_window, **given)
GLOBAL = {"padding_mode": "VALID", "global_pooling": True, "pads": [0] * 4, **WINDOW}
case("AvgPoolV2", [rand(2, 3, 6, 7)], lambda x: x.mean((2, 3), keepdim=True), **GLOBAL)
case("MaxPoolV3", [rand(2, 3, 6, 7)], lambda x: x.amax((2, 3), keepdim=True), **GLOBAL)
case("MaxPoolV3", [rand(2, 3, 6, 6)], lambda x: F.max_pool2d(x, (3, 2), (2, 2), ceil_mode=True), ceil_mode=True,
     **WINDOW)  # fmt: skip
case("AdaptiveAvgPool2d", [rand(2, 3, 6, 6)], lambda x: F.adaptive_avg_pool2d(x, (2, 3)), output_size=[2, 3])
case("AdaptiveAvgPool2dGrad", [rand(2, 3, 2, 3)],
     lambda g: gradient(lambda x: F.adaptive_avg_pool2d(x, (2, 3)))(g, torch.zeros(2, 3, 6, 6, dtype=g.dtype)),
     orig_input_shape=[2, 3, 6, 6])  # fmt: skip

# --- norms ------------------------------------------------------------------------------------------------------------


def statistics(x):
    axes = [0, *range(2, x.dim())]
    return axes, x.mean(axes), x.var(axes, correction=0)


def along(x, t):
    return t.reshape(1, -1, *[1] * (x.dim() - 2))


def update(x, total, squares, scale, offset, mean, variance):
    _, m, v = statistics(x)
    n = x.numel() / x.shape[1]
    y = (x - along(x, m)) * along(x, scale / (v + 1e-3).sqrt()) + along(x, offset)
    return y, 0.9 * mean + 0.1 * m, 0.9 * variance + 0.1 * v * n / (n - 1), m, v


def reduce_gradient(grads, x, diff_scale, diff_offset, scale, mean, variance):
    x.requires_grad_()
    y = F.batch_norm(x, None, None, scale, torch.zeros_like(scale), True, 0.1, 1e-3)
    return torch.autograd.grad(y, x, grads)[0]


case("BatchNorm", [rand(4, 3, 5, 5), rand(3, low=0.5), rand(3), rand(3), rand(3, low=0.5)],
     lambda x, scale, offset, mean, variance: (
         F.batch_norm(x, mean, variance, scale, offset, False, 0.1, 1e-3), mean, variance, mean, variance),
     is_training=False, epsilon=1e-3, data_format="NCHW")  # fmt: skip
for name, shape in (("BN", (4, 3, 5, 5)), ("BN3D", (4, 3, 2, 5, 5))):
    x, grads, scale, offset = rand(*shape), rand(*shape), rand(3, low=0.5), rand(3)
    axes, mean, variance = statistics(x)
    hat = (x - along(x, mean)) / (along(x, variance) + 1e-3).sqrt()
    case(f"{name}TrainingReduce", [x], lambda x: (x.sum(statistics(x)[0]), (x * x).sum(statistics(x)[0])),
         summed=True, epsilon=1e-3)  # fmt: skip
    case(f"{name}TrainingUpdate", [x, x.sum(axes), (x * x).sum(axes), scale, offset, rand(3), rand(3, low=0.5)],
         update, continued={1: 5, 2: 6}, epsilon=1e-3, factor=0.1)  # fmt: skip
    case(f"{name}TrainingUpdateGrad", [grads, x, mean, variance],
         lambda g, x, m, v: ((g * (x - along(x, m)) / (along(x, v) + 1e-3).sqrt()).sum(statistics(x)[0]),
                             g.sum(statistics(x)[0])), epsilon=1e-3)  # fmt: skip
    case(f"{name}TrainingReduceGrad",
         [grads, x, (grads * hat).sum(axes), grads.sum(axes), scale, mean, variance],
         reduce_gradient, epsilon=1e-3)  # fmt: skip
case("BNInfer", [rand(4, 3, 5, 5), rand(3), rand(3), rand(3), rand(3, low=0.5)],
     lambda x, s, o, m, v: F.batch_norm(x, m, v, s, o, False, 0.1, 1e-3), epsilon=1e-3)  # fmt: skip
case("BNInferGrad", [rand(4, 3, 5, 5), rand(3), rand(3, low=0.5)], lambda g, s, v: g * along(g, s / (v + 1e-3).sqrt()),
     epsilon=1e-3)  # fmt: skip


def layer_norm(x, gamma, beta):
    mean, variance = x.mean((1, 2), True), x.var((1, 2), correction=0, keepdim=True)
    return F.layer_norm(x, (3, 4), gamma, beta, 1e-5), mean, variance


def layer_norm_gradient(grad, x, variance, mean, gamma):
    x.requires_grad_(), gamma.requires_grad_()
    beta = torch.zeros_like(gamma, requires_grad=True)
    return torch.autograd.grad(F.layer_norm(x, (3, 4), gamma, beta, 1e-5), (x, gamma, beta), grad)


case("LayerNorm", [rand(2, 3, 4), rand(3, 4), rand(3, 4)], layer_norm, begin_norm_axis=1, begin_params_axis=1,
     epsilon=1e-5)  # fmt: skip
X = rand(2, 3, 4)
case("LayerNormGrad", [rand(2, 3, 4), X, X.var((1, 2), correction=0, keepdim=True), X.mean((1, 2), True), rand(3, 4)],
     layer_norm_gradient)  # fmt: skip

# --- distances, cells, optimizers, masks, the overflow word -----------------------------------------------------------

case("Cdist", [rand(4, 5), rand(4, 5)], lambda a, b: F.pairwise_distance(a, b, 2, eps=0), p=2.0)


def distance_gradient(grad, a, b, _):
    """The first matrix was repeated along the last axis but one."""
    a.requires_grad_()
    return torch.autograd.grad((a - b).norm(dim=-1), a, grad[..., 0])[0].sum(-2)


A, B = rand(4, 3, 5), rand(4, 3, 5)
case("CdistGrad", [rand(4, 3, 1).expand(4, 3, 5), A, B, (A - B).norm(dim=-1, keepdim=True).expand(4, 3, 5)],
     distance_gradient, p=2.0)  # fmt: skip


def adam(var, m, v, power1, power2, lr, beta1, beta2, eps, grad):
    m, v = beta1 * m + (1 - beta1) * grad, beta2 * v + (1 - beta2) * grad**2
    return var - lr * (1 - power2).sqrt() / (1 - power1) * m / (v.sqrt() + eps), m, v


ADAM = [rand(9), rand(9), rand(9, low=0), *numbers(0.81, 0.998, 0.01, 0.9, 0.99, 1e-3), rand(9)]
case("ApplyAdam", ADAM, lambda *a: adam(*a)[0], continued={0: 0}, use_nesterov=False)
case("ApplyAdamD", ADAM, adam, continued={0: 0, 1: 1, 2: 2}, use_locking=False)


def adam_w(var, m, v, power1, power2, lr, decay, beta1, beta2, eps, grad, *_):
    m, v = beta1 * m + (1 - beta1) * grad, beta2 * v + (1 - beta2) * grad**2
    root = v.sqrt() / (1 - power2 * beta2).sqrt() + eps
    return var * (1 - lr * decay) - lr / (1 - power1 * beta1) * m / root, m, v


case("ApplyAdamW", [rand(9), rand(9), rand(9, low=0), *numbers(0.81, 0.98, 0.01, 0.1, 0.9, 0.99, 1e-3), rand(9)],
     adam_w, continued={0: 0, 1: 1, 2: 2}, amsgrad=False, maximize=False)  # fmt: skip

STEPS, BATCH, INPUTS, HIDDEN = 3, 2, 4, 5


def lstm(x, w, bias, h, c):
    """Gates in the order of torch: input, forget, candidate, output."""
    saved = []
    for step in x:
        i, f, j, o = (torch.cat([step, h], 1) @ w + bias).chunk(4, 1)
        i, f, j, o = i.sigmoid(), f.sigmoid(), j.tanh(), o.sigmoid()
        c = f * c + i * j
        h = o * c.tanh()
        saved.append((h, h, c, i, j, f, o, c.tanh()))
    return tuple(torch.stack(s) for s in zip(*saved, strict=True))


CELL = [rand(STEPS, BATCH, INPUTS), rand(INPUTS + HIDDEN, 4 * HIDDEN), rand(4 * HIDDEN)]
STATE = [rand(1, BATCH, HIDDEN), rand(1, BATCH, HIDDEN)]
RULE = {"cell_type": "LSTM", "direction": "UNIDIRECTIONAL", "cell_depth": 1, "use_peephole": False, "keep_prob": 1.0,
        "cell_clip": -1.0, "num_proj": 0, "time_major": True, "activation": "tanh"}  # fmt: skip
case("DynamicRNN", [*CELL, None, *STATE], lambda x, w, b, _, h, c: lstm(x, w, b, h[0], c[0]), is_training=True,
     forget_bias=0.0, gate_order="ifjo", **RULE)  # fmt: skip
SPLIT = CELL[1].split([INPUTS, HIDDEN])
case("DynamicRNNV2", [CELL[0], *SPLIT, CELL[2], None, *STATE],
     lambda x, wi, wh, b, _, h, c: lstm(x, torch.cat([wi, wh]), b, h[0], c[0]), forget_bias=0.0, gate_order="ifco",
     **RULE)  # fmt: skip
SAVED = [t.float() for t in lstm(*(t.double() for t in CELL), STATE[0][0].double(), STATE[1][0].double())]
GRADS = [rand(STEPS, BATCH, HIDDEN), rand(BATCH, HIDDEN), rand(BATCH, HIDDEN)]


def lstm_gradient(x, w, dy, dh, dc):
    leaves = [t.double().requires_grad_() for t in (w, CELL[2], x, STATE[0][0], STATE[1][0])]
    y, h, c, *_ = lstm(leaves[2], leaves[0], leaves[1], leaves[3], leaves[4])
    return torch.autograd.grad([y, h[-1], c[-1]], leaves, [dy, dh, dc])


NONE = [torch.zeros(())] * 5
case("DynamicRNNGrad", [*CELL, SAVED[0], STATE[0][0], STATE[1][0], *SAVED[1:3], *GRADS, *SAVED[3:], *NONE],
     lambda x, w, *t: lstm_gradient(x, w, *t[6:9]), gate_order="ifjo", forget_bias=0.0,
     **RULE | {"cell_depth": 0, "keep_prob": -1.0})  # fmt: skip


def lstm_gradient_of_two(x, wi, wh, *t):
    dw, *rest = lstm_gradient(x, torch.cat([wi, wh]), *t[5:8])
    return (*dw.split([INPUTS, HIDDEN]), *rest)


case("DynamicRNNV2Grad", [CELL[0], *SPLIT, SAVED[0], STATE[0][0], STATE[1][0], *SAVED[1:3], *GRADS, *SAVED[3:], *NONE],
     lstm_gradient_of_two, gate_order="ifjo", recurrent_activation="sigmoid", stateful=False, merge_mode="concat",
     **RULE)  # fmt: skip


def gru(x, wi, wh, bi, bh, h):
    """Gates in the order of torch: reset, update, candidate."""
    saved = []
    for step in x:
        (xr, xz, xn), (hr, hz, hn) = (step @ wi + bi).chunk(3, 1), (h @ wh + bh).chunk(3, 1)
        r, z = (xr + hr).sigmoid(), (xz + hz).sigmoid()
        n = (xn + r * hn).tanh()
        h = (1 - z) * n + z * h
        saved.append((h, h, z, r, n, hn))
    return tuple(torch.stack(s) for s in zip(*saved, strict=True))


GATED = [CELL[0], rand(INPUTS, 3 * HIDDEN), rand(HIDDEN, 3 * HIDDEN), rand(3 * HIDDEN), rand(3 * HIDDEN)]
GRU_RULE = {"direction": "UNIDIRECTIONAL", "cell_depth": 1, "keep_prob": 1.0, "cell_clip": -1.0, "num_proj": 0,
            "time_major": True, "gate_order": "rzh", "reset_after": True}  # fmt: skip
case("DynamicGRUV2", [*GATED, None, STATE[0][0]], lambda x, wi, wh, bi, bh, _, h: gru(x, wi, wh, bi, bh, h),
     activation="tanh", is_training=True, **GRU_RULE)  # fmt: skip
GRU_SAVED = [t.float() for t in gru(*(t.double() for t in GATED), STATE[0][0].double())]


def gru_gradient(x, wi, wh, _y, h, _h, dy, dh, *_):
    leaves = [t.double().requires_grad_() for t in (wi, wh, *GATED[3:], x, h)]
    y, *_ = gru(leaves[4], *leaves[:4], leaves[5])
    return torch.autograd.grad([y, y[-1]], leaves, [dy, dh])


case("DynamicGRUV2Grad", [*GATED[:3], GRU_SAVED[0], STATE[0][0], GRU_SAVED[1], *GRADS[:2], *GRU_SAVED[2:], *NONE[:2]],
     gru_gradient, bias_type="no_bias", **GRU_RULE)  # fmt: skip


def kept(x, mask, _):
    bits = (mask[:, None] >> torch.arange(8)).bitwise_and(1).flatten()[: x.numel()]
    return x * bits.reshape(x.shape) / 0.75


case("DropOutDoMask", [rand(3, 7), ints(256, 16).to(torch.uint8), Host(0.75, torch.float32)], kept)
WORD = torch.zeros(8)
case("NPUAllocFloatStatus", [], lambda: WORD)
case("NPUClearFloatStatus NPUGetFloatStatus", [WORD], lambda word: word)
case("NPUClearFloatStatusV2", [], lambda: ())
case("NPUGetFloatStatusV2", [], lambda: torch.zeros(8, dtype=torch.int32))


def padded(x, **sizes):
    """x with axes made multiples of 16."""
    pads = [p for axis in reversed(range(x.dim())) for p in (0, -x.shape[axis] % 16 if axis in sizes.values() else 0)]
    return F.pad(x, pads)


def by_channels(x):
    n, c, *space = padded(x, c=1).shape
    return padded(x, c=1).reshape(n, c // 16, 16, *space).movedim(2, -1)


def by_filters(x):
    x = by_channels(padded(x, n=0))  # N, C1, …, C0
    x = x.movedim(0, -2) if x.dim() == 5 else x.movedim(0, -2).movedim(0, 1)  # depth stands before C1
    return x.reshape(-1, x.shape[-2] // 16, 16, 16)


def by_columns(x):
    x = padded(x, m=x.dim() - 2, n=x.dim() - 1)
    *batch, m, n = x.shape
    return x.reshape(*batch, m, n // 16, 16).transpose(-2, -3).reshape(*batch, n // 16, m // 16, 16, 16)


BLOCKED = [
    (3, (2, 21, 3, 5), by_channels),
    (3, (2, 32, 3, 5), by_channels),
    (3, (2, 3, 3, 5), by_channels),
    (3, (21,), lambda x: by_channels(x.reshape(1, 21, 1, 1))),
    (3, (21, 3, 5), lambda x: by_channels(x[None])),
    (4, (7, 21, 3, 5), by_filters),
    (4, (32, 16, 1, 1), by_filters),
    (29, (20, 37), by_columns),
    (29, (20,), lambda x: by_columns(x[:, None])),
    (29, (2, 16, 32), by_columns),
    (32, (2, 21, 2, 3, 5), lambda x: by_channels(x).movedim(1, 2)),
    (33, (7, 21, 2, 3, 5), by_filters),
]


def typed(device, name, inputs, outputs):
    """Runs a type on tensors that are (memory, None), or (memory, format, sizes)."""
    given, made, attr = Side(device), Side(device), C.c_void_p(LIB.aclopCreateAttr())
    for side, tensors in ((given, inputs), (made, outputs)):
        for memory, number, sizes in tensors:
            side.add(memory.contiguous())
            if number is not None:
                LIB.aclDestroyTensorDesc(side.descs[-1])
                desc = C.c_void_p(LIB.aclCreateTensorDesc(0, len(sizes), (C.c_int64 * len(sizes))(*sizes), 2))
                check(LIB.aclSetTensorFormat(desc, number))
                check(LIB.aclSetTensorShape(desc, memory.dim(), (C.c_int64 * memory.dim())(*memory.shape)))
                side.descs[-1] = desc
    try:
        check(LIB.aclopCompileAndExecute(name.encode(), *given.arguments(), *made.arguments(), attr, 0, 0, None,
                                         device.stream))  # fmt: skip
        check(LIB.aclrtSynchronizeStream(device.stream))
        return [memory.read() for memory in made.tensors]
    finally:
        given.destroy()
        made.destroy()
        LIB.aclopDestroyAttr(attr)
        device.release()


@pytest.mark.promise("single operators on NC1HWC0, NDC1HWC0, FRACTAL_Z, FRACTAL_Z_3D and FRACTAL_NZ, and casts to them")
@pytest.mark.parametrize(("number", "sizes", "arranged"), BLOCKED)
def test_blocked_formats(device, number, sizes, arranged):
    x, y = rand(*sizes), rand(*sizes)
    dirty = torch.full_like(arranged(x), 7.0)
    (got,) = typed(device, "Identity", [(x, None, sizes)], [(dirty, number, sizes)])
    assert torch.equal(got, arranged(x))
    (got,) = typed(device, "Identity", [(arranged(x), number, sizes)], [(torch.zeros(sizes), None, sizes)])
    assert torch.equal(got, x)
    terms = [(arranged(x), number, sizes), (y, None, sizes)]
    (got,) = typed(device, "Add", terms, [(dirty, number, sizes)])
    assert torch.equal(got, arranged(x + y))


@pytest.mark.parametrize(
    ("number", "sizes", "storage", "words"),
    [
        (3, (2, 21, 3, 5), (2, 1, 3, 5, 16), ["does not fit"]),
        (4, (20, 16, 3, 5), (15, 1, 16, 16), ["does not fit"]),
        (3, (2, 21, 3), (2, 2, 3, 16), ["do not suit"]),
        (29, (20, 7), (2, 16, 16), ["do not suit"]),
        (12, (2, 21, 3, 5), (2, 6, 3, 5, 4), ["format 12", "allow_internal_format"]),
    ],
)
def test_blocks_that_do_not_fit_are_refused(device, number, sizes, storage, words):
    with pytest.raises(CallError) as refusal:
        typed(device, "Identity", [(torch.zeros(storage), number, sizes)], [(torch.zeros(sizes), None, sizes)])
    assert not [w for w in words if w not in refusal.value.text], refusal.value.text


def mask_of(device, seed, keep, elements=8000):
    inputs = [Host([elements]), Host(keep, torch.float32), Host(seed, torch.int32), Host(0, torch.int32), Host([0, 3])]
    size = (elements + 127) // 128 * 16
    (mask,) = call(device, "StatelessDropOutGenMask", inputs, [torch.zeros(size, dtype=torch.uint8)], {})
    device.release()
    return (mask[:, None] >> torch.arange(8)).bitwise_and(1).flatten()[:elements]


def test_masks_keep_their_share_and_follow_the_seed(device):
    """Eight thousand coins of 0.75 leave 6000 within 5 standard deviations of 39."""
    first = mask_of(device, 5, 0.75)
    assert abs(first.sum().item() - 6000) < 195
    assert torch.equal(first, mask_of(device, 5, 0.75))
    assert not torch.equal(first, mask_of(device, 6, 0.75))


CASES["StatelessDropOutGenMask"] = []  # random: the test above


def test_the_form_that_waits_tells_sizes(device):
    x, mask = rand(9), torch.arange(9) % 3 == 0
    (got,) = call(device, "MaskedSelect", [x, mask], [torch.zeros(9)], {}, wait=True)
    (places,) = call(device, "NonZero", [mask.reshape(3, 3)], [torch.zeros(9, 2).long()], {}, wait=True)
    turned = {"transpose": True}
    (columns,) = call(device, "NonZero", [mask.reshape(3, 3)], [torch.zeros(2, 9).long()], turned, wait=True)
    device.release()
    assert torch.equal(got, x[mask])
    assert torch.equal(places, mask.reshape(3, 3).nonzero())
    assert torch.equal(columns, mask.reshape(3, 3).nonzero().t())


def test_different_elements_are_found(device):
    x, rows = ints(4, 20), ints(2, 9, 2).float()
    room = [torch.zeros(20).long()] * 3
    told = {"sorted": True, "return_inverse": True, "return_counts": True}
    got = call(device, "UniqueWithCountsAndSorting", [x], room, told, {}, True)
    for g, w in zip(got, torch.unique(x, return_inverse=True, return_counts=True), strict=True):
        assert torch.equal(g, w)
    got = call(device, "UniqueConsecutive", [x], room, {"return_idx": True, "return_counts": True}, {}, True)
    for g, w in zip(got, torch.unique_consecutive(x, return_inverse=True, return_counts=True), strict=True):
        assert torch.equal(g, w)
    # Where counts and places are not wanted, their tensors are too small for them.
    one = torch.zeros(1).long()
    told = {"sorted": True, "return_inverse": False, "return_counts": False}
    got = call(device, "UniqueWithCountsAndSorting", [x], [room[0], one, one], told, {}, True)
    assert torch.equal(got[0], torch.unique(x))
    made = [torch.zeros(9, 2), *[torch.zeros(9).long()] * 3]
    told = {"sorted": True, "return_inverse": True}
    y, _, counts, places = call(device, "UniqueWithCountsExt2", [rows, Host(0)], made, told, {}, True)
    device.release()
    for g, w in zip((y, places, counts), torch.unique(rows, dim=0, return_inverse=True, return_counts=True),
                    strict=True):  # fmt: skip
        assert torch.equal(g, w)


def test_factors_of_matrices_give_them_back(device):
    x = rand(2, 5, 3)
    q, r = call(device, "Qr", [x], [torch.zeros(2, 5, 3), torch.zeros(2, 3, 3)], {"full_matrices": False})
    sizes = [torch.zeros(2, 3), torch.zeros(2, 5, 3), torch.zeros(2, 3, 3)]
    s, u, v = call(device, "Svd", [x], sizes, {"compute_uv": True, "full_matrices": False})
    device.release()
    assert torch.allclose(q @ r, x, atol=1e-5)
    assert torch.allclose(q.mT @ q, torch.eye(3).expand(2, 3, 3), atol=1e-5)
    assert torch.allclose(s, torch.linalg.svdvals(x), atol=1e-5)
    assert torch.allclose(u @ s.diag_embed() @ v.mT, x, atol=1e-5)


WHERE = [Host([7]), Host([0, 20]), Host(1, torch.int32)]
CHANCE = [
    ("StatelessRandomUniformV2", [Host([100, 80]), *WHERE], torch.zeros(100, 80), {"dtype": 0}, 0.5, 1 / 12),
    ("StatelessRandomNormalV2", [Host([100, 80]), *WHERE], torch.zeros(100, 80), {"dtype": 0}, 0, 1),
    ("StatelessBernoulli", [Host([100, 80]), Host(0.3, torch.float32), Host(7), Host(20)], torch.zeros(100, 80),
     {"dtype": 0}, 0.3, 0.21),
    ("StatelessBernoulli", [Host([100, 80]), torch.full((100, 80), 0.3), Host(7), Host(20)], torch.zeros(100, 80),
     {"dtype": 0}, 0.3, 0.21),
    ("MultinomialWithReplacement", [torch.tensor([1.0, 3.0]), Host(7), Host(20)], torch.zeros(8000).long(),
     {"numsamples": 8000, "replacement": True}, 0.75, 0.1875),
]  # fmt: skip


@pytest.mark.parametrize(("name", "inputs", "like", "attributes", "mean", "variance"), CHANCE)
def test_chance_has_its_moments_and_follows_the_seed(device, name, inputs, like, attributes, mean, variance):
    """Of 8000 draws the mean lies within 5 standard deviations."""
    draw, again = (call(device, name, inputs, [like], attributes)[0] for _ in range(2))
    others = [Host([8]) if i is inputs[1] and len(inputs) == 4 and name.endswith("V2") else i for i in inputs]
    others = [Host(8) if isinstance(i, Host) and i.tensor.shape == () and i.tensor == 7 else i for i in others]
    (other,) = call(device, name, others, [like], attributes)
    device.release()
    assert torch.equal(draw, again)
    assert not torch.equal(draw, other)
    assert abs(draw.double().mean().item() - mean) < 5 * (variance / 8000) ** 0.5
    assert abs(draw.double().var().item() - variance) < 0.1 * variance


def test_permutations(device):
    (order,) = call(device, "StatelessRandperm", [Host(99), Host(7), Host(20)], [torch.zeros(99).long()],
                    {"layout": 1, "dtype": 4})  # fmt: skip
    device.release()
    assert torch.equal(order.sort().values, torch.arange(99))
    assert not torch.equal(order, torch.arange(99))


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "words"),
    [
        ("Conv2D", [rand(1, 2, 4, 4), rand(2, 2, 3, 3)],
         {"strides": [1] * 4, "pads": [0, 1, 0], "dilations": [1] * 4, "group": 1}, ["pads", "0, 1, 0", "two numbers"]),
        ("AvgPoolV2", [rand(1, 2, 4, 4)], {"ksize": [1, 1, 2, 2], "strides": [1] * 4, "padding_mode": "EVEN"},
         ["padding_mode", "EVEN", "CALCULATED, SAME, VALID"]),
        ("MaxPoolV3", [rand(1, 2, 4, 4)], {"ksize": [2, 2], "strides": [1] * 4}, ["ksize", "[2, 2]", "each axis"]),
        ("Flatten", [rand(2, 3)], {"axis": 3}, ["axis", "3", "2 axes"]),
        ("Conv2D", [rand(1, 4, 4, 2), rand(2, 2, 3, 3)], {"strides": [1] * 4, "pads": [0] * 4, "data_format": "NHWC"},
         ["data_format", "NCHW"]),
        ("Add", [rand(3), rand(3)], {"alpha": 2.0}, ["Add", "alpha"]),
        ("Add", [rand(3)], {}, ["Add", "2 inputs", "got 1"]),
        ("Add", [rand(3), None], {}, ["x2", "must be given"]),
        ("MatMulV2", [rand(3, 3), rand(3, 3), None, rand(3)], {}, ["offset_w", "not built"]),
        ("AsStrided", [rand(3), Host([2]), Host([3]), Host([0])], {}, ["3 elements"]),
        ("NLLLoss", [rand(3, 3), ints(3, 3).int(), rand(3)], {"reduction": "most"}, ["most", "none, mean, sum"]),
        ("Softmax", [rand(3, 3)], {"axes": [0, 1]}, ["axes", "a number"]),
        ("Conv2DForward", [rand(3)], {}, ["Conv2DForward", "Conv2DBackpropInput"]),
        ("PadV3", [rand(3), Host([1, 1])], {"mode": "symmetric"}, ["PadV3", "mode", "constant"]),
        ("ResizeBilinearV2", [rand(1, 1, 2, 2), Host([3, 3])], {"align_corners": True, "half_pixel_centers": True},
         ["ResizeBilinearV2", "align_corners", "not built"]),
        ("Index", [rand(3), Host([1, 1]), Host([1, 1]), ints(3, 2)], {}, ["indices", "1 tensors", "[1, 1]"]),
        ("SplitD", [rand(5)], {"split_dim": 0, "num_split": 2}, ["num_split is 2", "must divide size 5"]),
        ("SplitD", [rand(6)], {"split_dim": 0, "num_split": 2}, ["2 split sizes for 1 outputs"]),
        ("SplitVD", [rand(5)], {"size_splits": [-1, 2, -1], "split_dim": 0}, ["[-1, 2, -1]", "-1 once"]),
        ("SplitVD", [rand(5)], {"size_splits": [4, 2, -1], "split_dim": 0}, ["[4, 2, -1]", "up to 5"]),
        ("Unpack", [rand(3, 3)], {"axis": 4}, ["axis", "4"]),
    ],
)  # fmt: skip
def test_what_is_not_followed_is_refused_by_name(device, name, inputs, attributes, words):
    with pytest.raises(CallError) as refusal:
        call(device, name, inputs, [torch.zeros(3)] * (2 if name == "NLLLoss" else 1), attributes)
    device.release()
    assert not [w for w in words if w not in refusal.value.text], refusal.value.text


# --- signs, boxes, masks of bytes -------------------------------------------------------------------------------------


def packed(x):
    bits = F.pad(x >= 0, (0, -len(x) % 8)).reshape(-1, 8).int()
    return (bits << torch.arange(8)).sum(1).to(torch.uint8).reshape(2, -1)


case("SignBitsPack", [rand(30)], packed, size=2)
case("SignBitsUnpack", [ints(256, 6).to(torch.uint8)],
     lambda b: ((b[:, None] >> torch.arange(8)).bitwise_and(1) * 2.0 - 1).reshape(2, -1), size=2, dtype=0)  # fmt: skip


def corners(low, *sizes):
    start = rand(*sizes, 2, low=0, high=low)
    return torch.cat([start, start + rand(*sizes, 2, low=1, high=low)], -1)


def centre(boxes):
    return (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2] + 1


def encoded(anchor, truth):
    (at, size), (place, extent) = centre(anchor), centre(truth)
    return (torch.cat([(place - at) / size, (extent / size).log()], 1) - 0.1) / 0.2


def decoded(rois, deltas):
    deltas = deltas * 0.2 + 0.1
    at, size = centre(rois)
    limit = abs(torch.tensor(0.5).log())
    place, extent = at + size * deltas[:, :2], size * deltas[:, 2:].clamp(-limit, limit).exp()
    boxes = torch.cat([place - extent / 2 + 0.5, place + extent / 2 - 0.5], 1)
    return torch.minimum(boxes.clamp(min=0), torch.tensor([11.0, 7.0, 11.0, 7.0]))  # of an image of 8 x 12


NORMAL = {"means": [0.1] * 4, "stds": [0.2] * 4}
case("BoundingBoxEncode", [corners(9, 6), corners(9, 6)], encoded, **NORMAL)
case("BoundingBoxDecode", [corners(9, 6), rand(6, 4, low=-9, high=9)], decoded, max_shape=[8, 12],
     wh_ratio_clip=0.5, **NORMAL)  # fmt: skip
case("DropOutDoMaskV3", [rand(3, 7), ints(2, 3, 7).to(torch.uint8), Host(0.75, torch.float32)],
     lambda x, mask, _: x * mask / 0.75)  # fmt: skip
CASES["DropOutGenMaskV3"] = []  # random: the test below

# Channels last, as the client transposes its images for these.
DEFORM = {"ksize": [3, 2], "strides": [1, 2, 1, 1], "pads": [1, 1, 0, 1], "dilations": [1, 1, 2, 1]}
MOVES = rand(2, 3, 5, 36)


def deformed(x, offsets):
    first = [t.permute(0, 3, 1, 2) for t in (x, offsets)]
    strides, dilations = ([v[0], v[3], v[1], v[2]] for v in (DEFORM["strides"], DEFORM["dilations"]))
    return laid_out(*first, DEFORM["ksize"], strides, DEFORM["pads"], dilations, 2).permute(0, 2, 3, 1)


def deformed_backward(grad, x, offsets):
    leaves = [t.clone().requires_grad_() for t in (x, offsets)]
    return torch.autograd.grad(deformed(*leaves), leaves, grad)


case("DeformableOffsets", [rand(2, 6, 6, 4), MOVES], deformed, deformable_groups=2, **DEFORM)
case("DeformableOffsetsGrad", [rand(2, 9, 10, 4), rand(2, 6, 6, 4), MOVES], deformed_backward, deformable_groups=2,
     **DEFORM)  # fmt: skip


def test_masks_of_bytes_keep_their_share(device):
    inputs = [Host([100, 80]), Host(0.75, torch.float32)]
    (mask,) = call(
        device, "DropOutGenMaskV3", inputs, [torch.zeros(100, 80, dtype=torch.uint8)], {"seed": 3, "seed2": 0}
    )
    device.release()
    assert set(mask.unique().tolist()) == {0, 1}
    assert abs(mask.sum().item() - 6000) < 195  # as above
