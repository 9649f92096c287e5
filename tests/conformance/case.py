# SPDX-License-Identifier: Apache-2.0
"""One description per aclnn function, run over dtypes and layouts.

    case("aclnnAdd", lambda self, other, alpha: self + alpha * other,
         self=T(4, 5), other=T(5), alpha=2, dtypes=NUMERIC, elementwise=True)

The oracle gets the arguments it names as torch CPU tensors, floating ones in float64 (rounded to the dtype under test
first), and returns the written arguments in order. Everything else follows from the row in acl/aclnn/functions, and
from acl/types.tsv: a function that stands there is called with every dtype, and each is taken and right, or refused.
"""

import csv
import dataclasses
import functools
import inspect
import sys

import torch

from device import DTYPES, ROOT, CallError, Device, DeviceTensor, call

sys.path.insert(0, str(ROOT / "acl/generate"))
import table

REAL = [torch.float32, torch.float16, torch.bfloat16, torch.float64]
INTEGER = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
COMPLEX = [torch.complex64, torch.complex128]
BOOL = [torch.bool]
NUMERIC = REAL + INTEGER
ALL = NUMERIC + BOOL

# One rounding into the dtype (half a unit in the last place) plus what a float32 computation may lose. float64 stays
# at 1e-9 because sums and products inside are double but elementary functions may differ in their last bits.
RTOL = {torch.float32: 2e-6, torch.float16: 6e-4, torch.bfloat16: 5e-3, torch.float64: 1e-9}
RTOL |= {torch.complex64: 4e-6, torch.complex128: 1e-9}
HALF = (torch.float16, torch.bfloat16)  # computed in float32 and rounded once
# Of the sum of the terms' absolute values: the longest sums here (weight gradients, 4,700 pixels) lose half.
SUMS = 1 / 4
# Elementwise results near zero may be differences: they are held to a share of 1, or of the largest result.
SMALL = 1 / 4
RANGES = {"int4": (-8, 7), torch.int8: (-128, 127), torch.uint8: (0, 255), torch.int32: (-(2**31), 2**31 - 1)}


@dataclasses.dataclass
class Argument:
    name: str
    word: str
    role: str  # "in", "out" or "inout"


@dataclasses.dataclass
class T:
    """A random tensor of `shape`: uniform in [low, high) for floats, integers likewise, bool fair coins."""

    shape: tuple
    low: float = -2.0
    high: float = 2.0
    dtype: torch.dtype = None  # None: the dtype under test
    values: object = None  # function of the generator that returns the tensor instead

    def __init__(self, *shape, low=-2.0, high=2.0, dtype=None, values=None):
        self.shape, self.low, self.high, self.dtype, self.values = shape, low, high, dtype, values

    def make(self, generator, dtype, shape=None):
        dtype = self.dtype or dtype
        shape = self.shape if shape is None else shape
        if self.values is not None:
            made = self.values(generator)
            return made.to(dtype) if self.dtype is None else made
        if dtype == torch.bool:
            return torch.randint(0, 2, shape, generator=generator).bool()
        if not dtype.is_floating_point and not dtype.is_complex:
            # Whole numbers wide enough to be interesting, small enough that products do not overflow int8.
            low, high = (int(self.low), int(self.high)) if self.high - self.low > 4 else (-5, 6)
            low = max(low, 0) if dtype == torch.uint8 or self.low >= 0 else low
            return torch.randint(low, max(high, low + 1), shape, generator=generator).to(dtype)
        real = torch.float64 if not dtype.is_complex else torch.complex128
        unit = torch.rand(shape, generator=generator, dtype=torch.float64)
        made = self.low + (self.high - self.low) * unit
        if dtype.is_complex:
            made = torch.complex(
                made, self.low + (self.high - self.low) * torch.rand(shape, generator=generator).double()
            )
        return made.to(real).to(dtype)


@dataclasses.dataclass
class Case:
    name: str
    oracle: object
    values: dict
    dtypes: list
    elementwise: bool = False  # every shape works: 0-dim, empty and aliased runs are added
    layouts: tuple = ("plain", "transposed", "sliced", "expanded")
    # Of sums that cancel: a function like the oracle that gives the sums of the terms' absolute values, or "absolute"
    # where that is the oracle on the arguments without their signs.
    terms: object = None
    out_dtypes: dict = dataclasses.field(default_factory=dict)
    out_shapes: dict = dataclasses.field(default_factory=dict)  # buffers larger than the result (data-dependent sizes)
    check: object = None  # check(inputs: dict, outputs: dict) instead of an oracle, for random results
    # Outputs of whole numbers for which the oracle gives floats: their type, or "int4" for eight in each int32.
    whole: dict = dataclasses.field(default_factory=dict)


CASES: dict[str, list[Case]] = {}


def case(name, oracle=None, dtypes=REAL, **options):
    fields = {f.name for f in dataclasses.fields(Case)} - {"name", "oracle", "values", "dtypes"}
    settings = {k: options.pop(k) for k in list(options) if k in fields}
    CASES.setdefault(name, []).append(Case(name, oracle, options, dtypes, **settings))


def _table():
    rows = {}
    for path in sorted((ROOT / "acl/aclnn/functions").glob("*.tsv")):
        with open(path, encoding="utf-8") as file:
            lines = (line for line in file if line.strip() and not line.startswith("#"))
            for row in csv.DictReader(lines, delimiter="\t"):
                rows[row["name"]] = [_parse(a) for a in row["arguments"].split(", ") if a]
    return rows


def _parse(text):
    name, word = text.rsplit(":", 1)
    role = "inout" if name.startswith("<>") else "out" if name.startswith(">") else "in"
    return Argument(name.lstrip("<>").lstrip("_"), word.rstrip("?"), role)


FUNCTIONS = _table()


def _rules():
    families = table.read_types(ROOT / "acl/types.tsv", table.read_rows(ROOT / "acl/aclnn/functions", {}))
    return {row.name: row.rules for rows in families.values() for row in rows if row.rules}


RULES = _rules()


def type_name(dtype):
    return str(dtype).removeprefix("torch.")


def _tensors(value):
    """The tensors of one argument: of a tensor, a list of them, or none."""
    members = value if isinstance(value, list) else [value]
    return [getattr(m, "host", m) for m in members if isinstance(m, (torch.Tensor, DeviceTensor))]


def _refused(name, values):
    """The arguments whose types acl/types.tsv does not list, in the order of the function."""
    rules = RULES.get(name, {})
    typed = [a.name for a in FUNCTIONS[name] if a.name in rules and rules[a.name].types]
    return [a for a in typed if any(type_name(t.dtype) not in rules[a].types for t in _tensors(values.get(a)))]


def _layout(tensor, layout):
    """The same values in other strides. Returns None where the layout does not apply."""
    if layout == "plain":
        return tensor.clone(memory_format=torch.contiguous_format)
    if layout == "transposed":
        return tensor.mT.contiguous().mT if tensor.dim() >= 2 else tensor.clone()
    if layout == "channels_last":
        formats = {4: torch.channels_last, 5: torch.channels_last_3d}
        return tensor.clone(memory_format=formats.get(tensor.dim(), torch.contiguous_format))
    if layout == "sliced":  # every other element of a larger storage, from an offset
        if tensor.dim() == 0:
            return tensor.clone()
        room = torch.zeros([*tensor.shape[:-1], tensor.shape[-1] * 2 + 3], dtype=tensor.dtype)
        view = room[..., 3 : 3 + 2 * tensor.shape[-1] : 2]
        view.copy_(tensor)
        return view
    if tensor.dim() == 0 or tensor.shape[0] < 2:
        return tensor.clone()
    return tensor[:1].clone().expand(tensor.shape)  # the same row again and again, stride 0


def _wide(value):
    """What the oracle sees: copies, since some oracles write into their arguments."""
    if isinstance(value, torch.Tensor):
        if value.is_complex():
            return value.to(torch.complex128, copy=True)
        return value.to(torch.float64, copy=True) if value.is_floating_point() else value.clone()
    return [_wide(v) for v in value] if isinstance(value, list) else value


def magnitude(value):
    """Arguments without their signs; whole numbers, which say where and how often, stay."""
    if isinstance(value, torch.Tensor):
        return value.abs() if value.is_floating_point() or value.is_complex() else value
    if isinstance(value, list):
        return [magnitude(v) for v in value]
    return abs(value) if isinstance(value, float) else value


def absolute(oracle):
    """The terms of a function that only adds and multiplies: its oracle on the arguments without their signs."""

    @functools.wraps(oracle)
    def terms(**values):
        return oracle(**{n: magnitude(v) for n, v in values.items()})

    return terms


def _apply(function, inputs):
    """The results of an oracle, which takes the arguments that it names."""
    names = [n for n, p in inspect.signature(function).parameters.items() if p.default is p.empty]
    results = function(**{n: _wide(inputs[n]) for n in names})
    return results if isinstance(results, tuple) else (results,)


def _make(spec, generator, dtype, layout, shape=None):
    if isinstance(spec, list):
        return [_make(s, generator, dtype, layout) for s in spec]
    if isinstance(spec, T):
        return _layout(spec.make(generator, dtype, shape), layout)
    return spec(dtype) if callable(spec) else spec


def _out_dtype(case_, name, result, dtype):
    if name in case_.whole:
        return torch.int32 if case_.whole[name] == "int4" else case_.whole[name]
    if name in case_.out_dtypes:
        return case_.out_dtypes[name] or dtype
    if result.dtype in (torch.float64, torch.complex128):
        if result.is_complex():
            return dtype if dtype.is_complex else torch.complex64
        if dtype.is_complex:
            return torch.float32 if dtype == torch.complex64 else torch.float64
        return dtype if dtype.is_floating_point else torch.float32
    return result.dtype


def bound(want, dtype, elementwise=False, terms=None):
    """How far each result may be from `want`: one rounding into `dtype`, relative to itself, or what float32 loses on
    the way (float64: its own). That is relative to the sum of the terms' absolute values, where a case tells them, else
    to the largest magnitude of all results, and never more than to 1 and the result itself."""
    size = want.abs()
    finite = size[size.isfinite()]
    largest = finite.max().item() if finite.numel() else 0.0
    if terms is not None:
        scale = SUMS * terms
    elif elementwise:
        scale = torch.full_like(size, SMALL * min(largest, 1))
    else:
        scale = (size + 1).clamp(max=largest)
    lost = RTOL[torch.float32 if dtype in HALF else dtype] * scale
    kind = torch.finfo(dtype)
    # Below the smallest normal number a float16 keeps steps of one size, and float32 may be flushed to zero.
    floor = max(kind.smallest_normal * kind.eps, torch.finfo(torch.float32).tiny)
    return torch.maximum(RTOL[dtype] * size, lost).clamp(min=floor)


def compare(label, got, want, elementwise=False, terms=None, factor=1):
    """Fails where `got` is further from `want`, in float64, than `bound` allows; whole numbers must be equal."""
    assert tuple(got.shape) == tuple(want.shape), f"{label}: shape {tuple(got.shape)}, expected {tuple(want.shape)}"
    dtype = got.dtype
    if dtype.is_floating_point or dtype.is_complex:
        wide = torch.complex128 if dtype.is_complex or want.is_complex() else torch.float64
        got, want = got.to(wide), want.to(wide)
        rounded = want.to(dtype).to(wide)
        want = torch.where(torch.isinf(rounded), rounded, want)  # overflow of the dtype is the right answer
        limit = factor * bound(want, dtype, elementwise, terms)
        close = (got - want).abs() <= limit
        good = torch.where(got.isfinite() & want.isfinite(), close, (got == want) | (got.isnan() & want.isnan()))
    else:
        want = want.to(dtype)
        limit, good = torch.zeros(want.shape), got == want
    if not good.all():
        at = tuple((~good).nonzero()[0].tolist())
        raise AssertionError(
            f"{label}: {(~good).sum()} of {good.numel()} differ; at {list(at)} {got[at].item()} instead of "
            f"{want[at].item()}, off by {abs(got[at].item() - want[at].item()):.3g}, allowed {limit[at].item():.3g}"
        )


def unpacked(packed):
    """The eight 4-bit numbers of each int32, the first in its lowest bits."""
    bits = packed.unsqueeze(-1) >> torch.arange(0, 32, 4) & 15
    return ((bits ^ 8) - 8).flatten(-2)


def compare_whole(label, got, want, kind):
    """Fails where `got` is not the whole number next to `want`: in the middle of two, within what float32 loses on the
    way there, either is right."""
    got = (unpacked(got) if kind == "int4" else got).double()
    assert got.shape == want.shape, f"{label}: shape {tuple(got.shape)}, expected {tuple(want.shape)}"
    want = want.double().nan_to_num(nan=0.0).clamp(*RANGES[kind])
    largest = want.abs().max().item() if want.numel() else 0.0
    good = (got - want).abs() <= 0.5 + RTOL[torch.float32] * largest
    if not good.all():
        at = tuple((~good).nonzero()[0].tolist())
        raise AssertionError(
            f"{label}: {(~good).sum()} of {good.numel()} differ; at {list(at)} {got[at].item()} instead of "
            f"{want[at].item()}, rounded"
        )


def _variants(case_):
    for dtype in case_.dtypes:
        for layout in case_.layouts:
            yield dtype, layout, None
        if case_.elementwise:
            yield dtype, "plain", ()
            yield dtype, "plain", (0, 3)
        # Vector code works on blocks; a size beyond one block in one dtype catches block borders.
        if case_.elementwise and dtype == case_.dtypes[0]:
            yield dtype, "plain", (3, 2501)
    # Types that no case describes: refused, or an oracle is missing.
    if case_.name in RULES and case_ is CASES[case_.name][0]:
        described = {dtype for other in CASES[case_.name] for dtype in other.dtypes}
        yield from ((dtype, "plain", None) for dtype in DTYPES if dtype not in described)


def _on_device(device, value, blocked=False):
    if isinstance(value, torch.Tensor):
        return DeviceTensor.of(device, value, blocked)
    if isinstance(value, list) and value and any(isinstance(v, torch.Tensor) for v in value):
        return [None if v is None else DeviceTensor.of(device, v, blocked) for v in value]
    return value


def _blocked(name):
    """The weights of a function of blocked weights, and what is cast from blocks."""
    takes = "weightnz" in name.lower() or name == "aclnnNpuFormatCast"
    return {a.name for a in FUNCTIONS[name] if takes and a.word.startswith("blocked")}


def run(device: Device, case_: Case, seed=0):
    """Runs every variant of `case_`; returns how many."""
    variants = list(_variants(case_))
    for dtype, layout, shape in variants:
        run_variant(device, case_, dtype, layout, shape, seed)
    return len(variants)


def _inputs(case_, dtype, seed, layout="plain", shape=None):
    generator = torch.Generator().manual_seed(seed)
    spare = "plain" if layout == "expanded" else layout
    inputs = {}
    for a in FUNCTIONS[case_.name]:
        if a.role == "out":
            continue
        if a.name not in case_.values and not (a.word == "i8"):
            raise KeyError(f"{case_.name}: the case gives no value for argument {a.name}")
        spec = case_.values.get(a.name, 0)
        inputs[a.name] = _make(spec, generator, dtype, spare if a.role == "inout" else layout, shape)
    return inputs


def run_variant(device, case_, dtype, layout, shape, seed):
    arguments = FUNCTIONS[case_.name]
    label = f"{case_.name} {type_name(dtype)} {layout}" + ("" if shape is None else f" shape {list(shape)}")
    # An output may not be an expanded view: several results would share one place.
    spare = "plain" if layout == "expanded" else layout
    inputs = _inputs(case_, dtype, seed, layout, shape)
    expected, terms = {}, {}
    written = [a for a in arguments if a.role != "in"]
    if refused := _refused(case_.name, inputs):
        outputs = {a.name: _spare_output(case_, a, inputs) for a in written if a.role == "out"}
        return expect_refusal(device, case_, inputs | outputs, refused[0], label)
    if case_.oracle is not None:
        results = _apply(case_.oracle, inputs)
        assert len(results) == len(written), (
            f"{label}: the oracle gives {len(results)} of {len(written)} written arguments"
        )
        expected = {a.name: r for a, r in zip(written, results, strict=True)}
        if case_.terms is not None:
            sums = _apply(absolute(case_.oracle) if case_.terms == "absolute" else case_.terms, inputs)
            terms = {a.name: s for a, s in zip(written, sums, strict=True)}
    try:
        values = {n: _on_device(device, v, n in _blocked(case_.name)) for n, v in inputs.items()}
        for a in written:
            if a.role == "out":
                values[a.name] = _on_device(device, _output(case_, a, expected.get(a.name), dtype, spare))
        if refused := _refused(case_.name, values):
            return expect_refusal(device, case_, values, refused[0], label)
        try:
            call(device, case_.name, [a.word for a in arguments], [values[a.name] for a in arguments])
        except CallError as error:
            if _cannot_hold(expected, inputs) and "can't be cast to the desired output type" in error.text:
                return
            raise
        outputs = {a.name: _read(values[a.name]) for a in written}
        for a in written:
            if expected.get(a.name) is None:
                continue
            if a.name in case_.whole:
                compare_whole(f"{label}: {a.name}", outputs[a.name], expected[a.name], case_.whole[a.name])
            else:
                _check_written(f"{label}: {a.name}", outputs[a.name], expected[a.name], case_, terms.get(a.name))
        if case_.check is not None:
            case_.check(inputs, outputs)
    finally:
        device.release()


def _cannot_hold(expected, inputs):
    """Whether torch refuses a result in place: the quotient of integers is no integer, a truth value and 3 no truth
    value."""
    pairs = ((result, inputs.get(name)) for name, result in expected.items())
    return any(isinstance(r, torch.Tensor) and i is not None and not torch.can_cast(r.dtype, i.dtype) for r, i in pairs)


def _spare_output(case_, argument, inputs):
    """An output for a call that is refused before anybody looks at shapes."""
    made = next((_tensors(value) for value in inputs.values() if _tensors(value)), [torch.zeros(())])
    return (
        [torch.zeros_like(t) for t in made] if argument.word in ("tensor[]", "blocked[]") else torch.zeros_like(made[0])
    )


def expect_refusal(device, case_, values, argument, label):
    """The call must end in phase 1, with a text that names the argument."""
    arguments = FUNCTIONS[case_.name]
    try:
        there = [_on_device(device, values.get(a.name)) for a in arguments]
        call(device, case_.name, [a.word for a in arguments], there)
    except CallError as error:
        assert error.code == 161002, f"{label}: {error}"
        assert error.text.startswith(f"[{case_.name}] {argument} is "), f"{label}: {error}"
        assert "it may be " in error.text, f"{label}: {error}"
    else:
        raise AssertionError(f"{label}: {argument} was taken")
    finally:
        device.release()


def refuse_each(device: Device, name, seed=0):
    """Every tensor argument with every type that it may not have, the others as they should be; returns how many."""
    rules = RULES[name]
    arguments = FUNCTIONS[name]
    taken = ((c, d) for c in CASES[name] for d in c.dtypes if not _refused(name, _inputs(c, d, seed)))
    case_, good = next(taken)
    count = 0
    for argument in (a for a in arguments if a.name in rules and rules[a.name].types):
        for dtype in (d for d in DTYPES if type_name(d) not in rules[argument.name].types):
            values = _inputs(case_, good, seed)
            values |= {a.name: _spare_output(case_, a, values) for a in arguments if a.role == "out"}
            wrong = [t.to(dtype) for t in _tensors(values[argument.name])] or [torch.zeros((), dtype=dtype)]
            values[argument.name] = wrong if argument.word in ("tensor[]", "blocked[]") else wrong[0]
            # A number that must name this type follows it, so that the type alone is wrong.
            values |= {n: dtype for n, rule in rules.items() if rule.same == argument.name}
            expect_refusal(device, case_, values, argument.name, f"{name} {argument.name} {type_name(dtype)}")
            count += 1
    return count


def _output(case_, argument, result, dtype, layout):
    if isinstance(result, list):
        return [_output(case_, argument, r, dtype, layout) for r in result]
    if result is None and argument.name not in case_.out_shapes:
        return None
    made = case_.out_dtypes.get(argument.name) if result is None else _out_dtype(case_, argument.name, result, dtype)
    shape = case_.out_shapes.get(argument.name, () if result is None else tuple(result.shape))
    if case_.whole.get(argument.name) == "int4":
        shape = (*shape[:-1], shape[-1] // 8)
    # Poison: an element that is not written shows up.
    return _layout(torch.full(shape, 77, dtype=torch.float64).to(made or dtype), layout)


def _read(value):
    if isinstance(value, list):
        return [None if v is None else v.read() for v in value]
    if value is None:
        return None
    read = value.read()
    final = getattr(value, "final_shape", list(read.shape))
    if final != list(read.shape):  # data-dependent: the result lies dense at the start
        count = 1
        for d in final:
            count *= d
        read = read.flatten()[:count].view(final)
    return read


def _check_written(label, got, want, case_, terms):
    if isinstance(want, list):
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            _check_written(f"{label}[{i}]", g, w, case_, None if terms is None else terms[i])
    elif want is not None:
        compare(label, got, want, case_.elementwise, terms)
