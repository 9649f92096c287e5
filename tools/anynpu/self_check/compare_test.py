# SPDX-License-Identifier: Apache-2.0
"""How much may differ: what rounding explains is never told, and what it does not explain is."""

import json

import numpy as np
import pytest

from anynpu.self_check.bound import BRIDGE, LAMBDA, error
from anynpu.self_check.compare import allowance, compare, compare_one
from anynpu.self_check.element import UnknownError, decoded, ulp
from anynpu.self_check.task import Task

NUMPY = {"float32": "f4", "float16": "f2", "float64": "f8", "int64": "i8", "bool": "?"}


def rounded(array, dtype):
    if dtype != "bfloat16":
        return np.asarray(array, NUMPY[dtype])
    bits = np.asarray(array, "f4").view("u4")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("u2")


def task_of(op, inputs, result, dtype="float32", **numbers):
    """A task of one call whose result `out` is there already."""
    text = {"type": op, "node": op, "calls": [{"op": op, "results": ["out"], "fields": dict(numbers)}], "tensors": []}
    task = Task.__new__(Task)
    task.text, task.blobs, task.raw = text, [], None
    for name, array in {**inputs, "out": result}.items():
        kind = {"i": "int64", "b": "bool"}.get(array.dtype.kind, dtype)
        side = "after" if name == "out" else "before"
        tensor = {"dtype": kind, "shape": list(array.shape), "strides": [], "at": id(array), "before": None}
        text["tensors"].append({**tensor, "after": None, side: len(task.blobs)})
        task.blobs.append(rounded(array, kind).tobytes())
        text["calls"][0]["fields"][name] = {"tensor": len(text["tensors"]) - 1}
    json.dumps(text)
    return task


def exact(task, name):
    number = task.calls[0]["fields"][name]["tensor"]
    one = task.tensors[number]
    return decoded(task.blobs[one["before"]], one["dtype"], one["shape"])


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def product(rng, n, dtype, damage=None):
    a, b = rng.normal(size=(24, n)), rng.normal(size=(n, 40))
    task = task_of("mm", {"self": a, "mat2": b}, np.zeros((24, 40)), dtype)
    out = (exact(task, "self").astype("f4") @ exact(task, "mat2").astype("f4")).astype("f8")
    if damage is not None:
        out = damage(out)
    task.blobs[-1] = rounded(out, dtype).tobytes()
    return task


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("n", [1, 3, 64, 4096])
def test_a_product_summed_in_float32_is_right(rng, dtype, n):
    assert compare(product(rng, n, dtype)) is None


@pytest.mark.parametrize("n", [8, 64, 4096])
def test_a_product_that_lacks_one_term_is_named(rng, n):
    a, b = rng.normal(size=(24, n)), rng.normal(size=(n, 40))
    task = task_of("mm", {"self": a, "mat2": b}, np.zeros((24, 40)))
    out = exact(task, "self")[:, 1:] @ exact(task, "mat2")[1:]
    task.blobs[-1] = rounded(out, "float32").tobytes()
    found = compare(task)
    assert found.elements > 0.95 * found.count


def test_one_wrong_element_is_found_and_told_where(rng):
    def damage(out):
        out[5, 7] += 1e-3
        return out

    found = compare(product(rng, 256, "float32", damage))
    assert (found.elements, found.index) == (1, (5, 7))
    assert found.is_ - found.should_be == pytest.approx(1e-3, rel=1e-2)


def test_sums_in_bfloat16_are_no_sums_in_float32(rng):
    """The step below: a kernel that keeps its sum in the short type deviates."""
    x = np.abs(rng.normal(size=(8, 512)))
    task = task_of("sum", {"self": x}, np.zeros(8), "bfloat16", dim=[1])
    x = exact(task, "self")
    total = np.zeros(8)
    for column in x.T:
        total = decoded(rounded(total + column, "bfloat16").tobytes(), "bfloat16", (8,))
    task.blobs[-1] = rounded(total, "bfloat16").tobytes()
    assert compare(task).elements == 8
    task.blobs[-1] = rounded(x.astype("f4").sum(1), "bfloat16").tobytes()
    assert compare(task) is None


def test_cancelling_is_no_deviation():
    x = np.array([1e8, 1.25, -1e8, 3.0])
    task = task_of("sum", {"self": x}, np.array(4.0), dim=None)
    assert compare(task) is None  # 1.25 is rounded away beside 1e8
    assert compare(task_of("sum", {"self": np.array([1.0, 1.25, -1.0, 3.0])}, np.array(4.0), dim=None)).elements == 1


@pytest.mark.parametrize(("dtype", "units"), [("float32", 4), ("float16", 1), ("bfloat16", 1)])
def test_elementwise_a_few_units_are_allowed_and_a_hundred_are_not(rng, dtype, units):
    x = rng.uniform(0.5, 2, 100)
    task = task_of("exp", {"self": x}, np.zeros(100), dtype)
    right = np.exp(exact(task, "self"))
    unit = ulp(right, dtype)
    for off, named in ((0, False), (units, False), (100, True)):
        task.blobs[-1] = rounded(right + off * unit, dtype).tobytes()
        assert (compare(task) is not None) == named, off


@pytest.mark.parametrize("made", [np.nan, np.inf, -np.inf, 0.0])
def test_what_is_not_finite_must_be_so_in_both(made):
    x = np.array([1.0, 2.0])
    assert compare(task_of("exp", {"self": x}, np.array([np.e, made]))) is not None
    assert compare(task_of("log", {"self": np.array([-1.0, 0.0, np.inf])}, np.array([np.nan, -np.inf, np.inf]))) is None


def test_beyond_the_range_infinity_and_the_largest_number_are_right():
    x = np.array([60000.0])
    for made in (np.inf, 65504.0):
        assert compare(task_of("add", {"self": x, "other": x}, np.array([made]), "float16")) is None
    assert compare(task_of("add", {"self": x, "other": x}, np.array([-np.inf]), "float16")) is not None


def test_whole_numbers_and_truth_are_equal_or_wrong():
    x = np.arange(6)
    assert compare(task_of("add", {"self": x, "other": x}, 2 * x)) is None
    assert compare(task_of("add", {"self": x, "other": x}, 2 * x + (x == 3))).index == (3,)
    assert compare(task_of("lt", {"self": x, "other": 5 - x}, x < 5 - x)) is None
    assert compare(task_of("lt", {"self": x, "other": 5 - x}, x <= 3)).elements == 1


def test_without_a_reference_nothing_counts_as_good():
    with pytest.raises(UnknownError, match="there is no reference for fft"):
        compare(task_of("fft", {"self": np.zeros(2)}, np.zeros(2)))


def test_the_bound_of_a_sum_is_the_smaller_of_the_certain_and_the_likely():
    unit = 2.0**-24
    assert error(4, unit, 4.0, 4.0, 4.0) == pytest.approx(4 * 4 * unit)
    n = 64**2
    assert error(n, unit, 0.0, n, n) == pytest.approx(LAMBDA * unit * n * BRIDGE**0.5)
    assert error(n, unit, n, n, n) < n * n * unit


@pytest.mark.parametrize("n", [2, 16, 300, 20000])
@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_no_sum_of_float32_in_any_order_errs_as_much_as_its_bound(rng, n, offset):
    """Term after term, the worst of usual orders."""
    x = (rng.normal(size=(200, n)) + offset).astype("f4")
    wide = x.astype("f8")
    made = np.cumsum(x, 1, dtype="f4")[:, -1]
    bound = error(n, 2.0**-24, wide.sum(1), np.abs(wide).sum(1), (wide**2).sum(1))
    share = np.abs(made - wide.sum(1)) / bound
    assert share.max() < 1
    assert share.max() > 1e-3  # nor is it so wide that it says nothing


def test_the_allowance_of_a_bounded_element_is_one_unit_and_the_bound():
    wanted = np.array([1.0])
    assert allowance(wanted, [], "float32", np.array([0.5])) == 0.5 + 2.0**-23


def test_an_empty_tensor_is_right():
    assert compare_one(0, np.zeros(0), np.zeros(0), [np.zeros(0)], "float32") is None
