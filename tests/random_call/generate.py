# SPDX-License-Identifier: Apache-2.0
"""Calls of PyTorch, drawn by a seed and told as plain data, so that one that fails can be shown and made smaller.

A call is {"op": name, "tensors": [...], "args": {...}}; a tensor {"shape", "dtype", "layout", "seed", "low", "high"}.
"""

import dataclasses
import random

import torch
import torch.nn.functional as F

FLOATS = ["float32", "float32", "float16", "bfloat16", "float64"]
INTS = ["int64", "int32", "int16", "int8", "uint8"]
ALL = [*FLOATS, *INTS, "bool"]
LAYOUTS = ["plain", "plain", "transposed", "sliced", "stepped", "expanded"]
SIZES = [1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 33]


@dataclasses.dataclass
class Op:
    compute: object  # of tensors and args
    draw: object  # rng: (tensors, args)
    summed: bool = False  # many terms: what they lose is measured by their absolute values


OPS = {}


def op(names, draw, compute=None, module=torch, **traits):
    for name in names.split():
        OPS[name] = Op(compute or getattr(module, name), draw, **traits)


def shape_of(rng, least=0, most=4, empty=True):
    shape = [rng.choice(SIZES) for _ in range(rng.randint(least, most))]
    if empty and shape and rng.random() < 0.03:
        shape[rng.randrange(len(shape))] = 0
    while count(shape) > 20000:
        shape[shape.index(max(shape))] = 2
    return shape


def count(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def tensor(rng, shape, dtype, low=-4.0, high=4.0):
    layout = rng.choice(LAYOUTS)
    return {"shape": shape, "dtype": dtype, "layout": layout, "seed": rng.randrange(1 << 30), "low": low, "high": high}


def narrower(rng, shape):
    """A shape that broadcasts to `shape`."""
    keep = rng.randint(0, len(shape))
    return [1 if rng.random() < 0.3 else size for size in shape[keep:]] if rng.random() < 0.5 else list(shape)


def one(types, low=-4.0, high=4.0, **limits):
    return lambda rng: ([tensor(rng, shape_of(rng, **limits), rng.choice(types), low, high)], {})


def two(types, low=-4.0, high=4.0, mixed=True):
    def draw(rng):
        shape, dtype = shape_of(rng), rng.choice(types)
        other = rng.choice(types) if mixed and rng.random() < 0.3 else dtype
        tensors = [tensor(rng, shape, dtype, low, high), tensor(rng, narrower(rng, shape), other, low, high)]
        if rng.random() < 0.2:
            tensors.reverse()
        return tensors, {}

    return draw


def with_number(types, numbers):
    return lambda rng: ([tensor(rng, shape_of(rng), rng.choice(types))], {"other": rng.choice(numbers)})


def along(types, keep=True, low=-4.0, high=4.0, **more):
    """One tensor, one of its axes."""

    def draw(rng):
        shape = shape_of(rng, least=1, empty=False)
        args = {"dim": rng.randrange(-len(shape), len(shape))} | {k: rng.choice(v) for k, v in more.items()}
        if keep:
            args["keepdim"] = rng.random() < 0.5
        return [tensor(rng, shape, rng.choice(types), low, high)], args

    return draw


def indexed(draw_value=False):
    """A tensor, an axis, indices along it (of the tensor's rank), and values to put there."""

    def draw(rng):
        shape, dtype = shape_of(rng, least=1, empty=False), rng.choice(ALL)
        dim = rng.randrange(len(shape))
        at = [rng.randint(1, size) for size in shape]
        index = tensor(rng, at, "int64", 0, shape[dim])
        values = [tensor(rng, at, dtype)] if draw_value else []
        return [tensor(rng, shape, dtype), index, *values], {"dim": dim}

    return draw


def products(*shapes):
    def draw(rng):
        sizes = {letter: rng.choice(SIZES) for letter in "bmkn"}
        dtype = rng.choice(FLOATS)
        return [tensor(rng, [sizes[c] for c in shape], dtype, -1.0, 1.0) for shape in shapes], {}

    return draw


def images(kernel, axes):
    def draw(rng):
        channels, out, dtype = rng.choice([1, 2, 3, 4, 8]), rng.choice([1, 2, 4, 5]), rng.choice(FLOATS[:4])
        size, padding = rng.randint(1, 3), rng.randint(0, 1)
        shape = [rng.randint(1, 3), channels, *(rng.randint(4, 12) for _ in range(axes))]
        tensors = [tensor(rng, shape, dtype, -1.0, 1.0)]
        if kernel:
            tensors.append(tensor(rng, [out, channels] + [size] * axes, dtype, -1.0, 1.0))
            return tensors, {"stride": rng.randint(1, 2), "padding": padding}
        return tensors, {"kernel_size": size + 1, "stride": rng.randint(1, 2), "padding": padding}

    return draw


def rows(*more, types=FLOATS[:4]):
    """[n, c] and vectors of c."""

    def draw(rng):
        n, c, dtype = rng.choice(SIZES), rng.choice(SIZES), rng.choice(types)
        return [tensor(rng, [n, c], dtype), *(tensor(rng, [c], dtype) for _ in more)], {}

    return draw


POSITIVE = {"low": 0.1, "high": 4.0}
op("abs neg sign square relu", one(FLOATS + INTS[:4]))
op("exp sin cos tanh sigmoid erf atan sinh expm1", one(FLOATS))
op("log sqrt rsqrt log2 log10 log1p reciprocal", one(FLOATS, **POSITIVE))
op("floor ceil round trunc frac", one(FLOATS))
op("isnan isinf isfinite", one(ALL))
op("logical_not", one(ALL))
op("bitwise_not", one([*INTS, "bool"]))
op("add sub mul", two([*FLOATS, *INTS]))
op("div atan2", two([*FLOATS, *INTS], **POSITIVE))
op("maximum minimum", two([*FLOATS, *INTS]))
op("pow", two(FLOATS, **POSITIVE))
# From 1: what whole numbers divided by zero give is not defined, and torch on the CPU refuses.
op("fmod remainder floor_divide", two(FLOATS[:2] + INTS[:2], low=1.0, high=9.0, mixed=False))
op("eq ne lt le gt ge logical_and logical_or logical_xor", two(ALL))
op("bitwise_and bitwise_or bitwise_xor", two([*INTS, "bool"]))
op("add_number", with_number(FLOATS + INTS, [2, -1, 0.5]), lambda x, other: x + other)
op("mul_number", with_number(FLOATS + INTS, [2, -1, 0.5]), lambda x, other: x * other)
op("pow_number", with_number(FLOATS, [2, 3, 0, 1]), lambda x, other: x**other)
op("compare_number", with_number(ALL, [0, 1, 0.5]), lambda x, other: x > other)
# Without uint8: torch's CPU takes a bound of -1 for 255 there, the NPU for 0.
op("clamp", with_number(FLOATS + INTS[:4], [1, 2]), lambda x, other: x.clamp(-other, other))
op("sum prod", along(FLOATS + INTS, low=-1.5, high=1.5), summed=True)
op("mean var std", along(FLOATS), summed=True)
op("amax amin", along(FLOATS + INTS))
op("all any", along(ALL))
op("logsumexp", along(FLOATS))
op("norm", along(FLOATS, p=[1, 2, float("inf")]), lambda x, dim, keepdim, p: x.norm(p, dim, keepdim), summed=True)
op("cumsum", along(FLOATS + INTS, keep=False), summed=True)
op("softmax log_softmax", along(FLOATS, keep=False))
op("sum_all", one(FLOATS + INTS), lambda x: x.sum(), summed=True)
op("max_values", along(FLOATS + INTS), lambda x, dim, keepdim: x.max(dim, keepdim)[0])
op("sort_values", along(FLOATS + INTS, keep=False, descending=[False, True]), lambda x, **a: x.sort(**a)[0])
op("topk_values", along(FLOATS + INTS[:2], keep=False), lambda x, dim: x.topk(1, dim)[0])
op("flip", along(ALL, keep=False), lambda x, dim: x.flip(dim))
op("roll", along(ALL, keep=False, by=[1, -2, 3]), lambda x, dim, by: x.roll(by, dim))
op("narrow", along(ALL, keep=False), lambda x, dim: x.narrow(dim, x.shape[dim] // 2, (x.shape[dim] + 1) // 2))
op("select", along(ALL, keep=False), lambda x, dim: x.select(dim, x.shape[dim] - 1))
op("cat", along(ALL, keep=False), lambda x, dim: torch.cat([x, x.narrow(dim, 0, 1), x], dim))
op("stack", along(ALL, keep=False), lambda x, dim: torch.stack([x, x], dim))
op("unbind_last", along(ALL, keep=False), lambda x, dim: x.unbind(dim)[-1])
op("unfold", along(ALL, keep=False), lambda x, dim: x.unfold(dim, min(2, x.shape[dim]), 1).contiguous())
op("permute", one(ALL), lambda x: x.permute(*reversed(range(x.dim()))).contiguous())
op("reshape", one(ALL), lambda x: x.reshape(-1))
op("repeat", one(ALL, least=1, most=3), lambda x: x.repeat(2, *[1] * (x.dim() - 1)))
op("tril triu", one(ALL, least=2))
op("diagonal", one(ALL, least=2), lambda x: x.diagonal().contiguous())
op("nonzero", one(ALL))
op("pad", one(FLOATS + INTS, least=1), lambda x: F.pad(x, (1, 2), value=1))
op("half int bool", one(ALL), module=torch.Tensor)
op("gather", indexed(), lambda x, i, dim: x.gather(dim, i))
op("take_along_dim", indexed(), lambda x, i, dim: torch.take_along_dim(x, i, dim) if x.shape == i.shape else x)
op("scatter_add", indexed(True), lambda x, i, v, dim: x.scatter_add(dim, i, v), summed=True)
op("index_select", indexed(), lambda x, i, dim: x.index_select(dim, i.reshape(-1)[:3]))
op("index", indexed(), lambda x, i, dim: x.transpose(0, dim)[i.reshape(-1)])
op("where", two(FLOATS + INTS), lambda x, y: torch.where(x > y, x, y))
op("masked_fill", two(FLOATS + INTS, mixed=False), lambda x, y: (x + y).masked_fill(x > y, 2))
op("masked_select", two(FLOATS + INTS, mixed=False), lambda x, y: torch.masked_select(x, x > y))
op("lerp", two(FLOATS, mixed=False), lambda x, y: torch.lerp(x, y, 0.25))
op("addcmul", two(FLOATS, mixed=False), lambda x, y: torch.addcmul(x, x, y, value=0.5))
op("addcdiv", two(FLOATS, **POSITIVE, mixed=False), lambda x, y: torch.addcdiv(x, x, y, value=0.5))
op("mm", products("mk", "kn"), summed=True)
op("bmm", products("bmk", "bkn"), summed=True)
op("matmul", products("bmk", "kn"), summed=True)
op("mv", products("mk", "k"), summed=True)
op("dot", products("k", "k"), summed=True)
op("addmm", products("n", "mk", "kn"), lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), summed=True)
op("baddbmm", products("bmn", "bmk", "bkn"), summed=True)
op("linear", products("bmk", "nk", "n"), F.linear, summed=True)
op("outer", products("m", "n"))
op("einsum", products("bmk", "bnk"), lambda a, b: torch.einsum("bmk,bnk->mbn", a, b), summed=True)
op("conv1d", images(True, 1), F.conv1d, summed=True)
op("conv2d", images(True, 2), F.conv2d, summed=True)
op("max_pool2d", images(False, 2), F.max_pool2d)
op("avg_pool2d", images(False, 2), F.avg_pool2d, summed=True)
op("layer_norm", rows(1, 1), lambda x, g, b: F.layer_norm(x, x.shape[1:], g, b))
op("batch_norm", rows(1, 1), lambda x, g, b: F.batch_norm(x, g, b.abs() + 1, g, b))
op("gelu silu", one(FLOATS[:4]), module=F, summed=True)  # x and its share cancel where x is far below 0
op("softplus elu leaky_relu hardtanh mish selu", one(FLOATS[:4]), module=F)
op("mse_loss smooth_l1_loss l1_loss", two(FLOATS[:4], mixed=False), module=F, summed=True)


def draw(seed):
    rng = random.Random(seed)
    name = rng.choice(sorted(OPS))
    tensors, args = OPS[name].draw(rng)
    return {"op": name, "tensors": tensors, "args": args}


def build(told):
    """The tensor on the CPU, in its layout."""
    shape, dtype = told["shape"], getattr(torch, told["dtype"])
    layout = told["layout"] if shape else "plain"
    full = list(shape)
    if layout == "transposed":
        full = full[::-1]
    elif layout in ("sliced", "stepped"):
        full[-1] = full[-1] * 2 + 1
    elif layout == "expanded":
        full[0] = min(full[0], 1)
    values = torch.rand(full, generator=torch.Generator().manual_seed(told["seed"]), dtype=torch.float64)
    values = values * (told["high"] - told["low"]) + told["low"]
    if dtype == torch.bool:
        values = values > (told["low"] + told["high"]) / 2
    elif not dtype.is_floating_point:
        values = values.floor().clamp(min=0) if dtype == torch.uint8 else values.floor()
    values = values.to(dtype)
    if layout == "transposed":
        return values.permute(*reversed(range(len(shape))))
    if layout == "sliced":
        return values[..., 1 : shape[-1] + 1]
    if layout == "stepped":
        return values[..., 1::2][..., : shape[-1]]
    return values.expand(shape)


def smaller(call):
    """Calls that say less: what shrinking tries, in order."""
    tensors = call["tensors"]

    def changed(i, **what):
        return call | {"tensors": [t | what if k == i else t for k, t in enumerate(tensors)]}

    for i, told in enumerate(tensors):
        if told["layout"] != "plain":
            yield changed(i, layout="plain")
    for size in sorted({size for told in tensors for size in told["shape"] if size > 1}, reverse=True):
        for less in sorted({1, 2, size // 2} - {size}):
            shrunk = [t | {"shape": [less if s == size else s for s in t["shape"]]} for t in tensors]
            yield call | {"tensors": shrunk}
    if len({t["dtype"] for t in tensors}) == 1 and tensors[0]["dtype"] not in ("float32", "int64"):
        yield call | {"tensors": [t | {"dtype": "float32"} for t in tensors]}
