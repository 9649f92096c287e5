# SPDX-License-Identifier: Apache-2.0
"""What a task wrote against its reference. A sum of products may be off by what rounding can do to it, which its terms
tell (bound.py). Elsewhere an element may be off by TIMES as far as the reference itself moves when its inputs and steps
are shaken by one rounding each, which grows with what cancels in it, as the error of a kernel does."""

from dataclasses import dataclass

import numpy as np

from anynpu.self_check import evaluate
from anynpu.self_check.bound import LAMBDA, bounds
from anynpu.self_check.element import is_float, largest, ulp

EXACT = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ULPS = {"float16": 1.0, "bfloat16": 1.0, "float32": 4.0, "float64": 8.0}
SHAKES = (1, 2)  # seeds
# Errors of an operator that is no plain sum add up as independent ones do: LAMBDA standard deviations are exceeded as
# seldom as in a sum, and one step of a reference is up to ROUNDINGS of a kernel (the polynomial of an exponential).
ROUNDINGS = 16
TIMES = LAMBDA * ROUNDINGS**0.5


@dataclass
class Deviation:
    tensor: int  # its number in the task
    dtype: str
    index: tuple  # where it is worst
    is_: float
    should_be: float
    ulps: float
    elements: int  # that are off
    count: int


def same(made, wanted):
    return (made == wanted) | ((made != made) & (wanted != wanted))


def spread(shaken, wanted):
    """How far the reference moves: each element itself, but no less than its tensor does in the mean."""
    with np.errstate(all="ignore"):
        moved = np.max([np.abs(one - wanted) for one in shaken], axis=0)
    moved = np.where(np.isfinite(moved), moved, 0.0)
    return np.maximum(moved, np.sqrt(np.mean(moved**2))) if moved.size else moved


def allowance(wanted, shaken, dtype, bound=None):
    """How far each element may be off. What is bounded is rounded once more, to its type."""
    unit = ulp(wanted, dtype)
    return ULPS[dtype] * unit + TIMES * spread(shaken, wanted) if bound is None else unit + bound


def wrong_floats(made, wanted, allowed, dtype):
    """Which elements are off, and how far each is, in ULP."""
    with np.errstate(all="ignore"):
        distance = np.abs(made - wanted)
        # What leaves the range of the type is infinite, or close to it.
        beyond = (np.abs(wanted) + allowed >= largest(dtype)) & (np.abs(made) >= 0.99 * largest(dtype))
        beyond &= np.sign(made) == np.sign(wanted)
        wrong = ~(distance <= allowed) & ~same(made, wanted) & ~beyond
    return wrong, np.where(np.isfinite(distance), distance / ulp(wanted, dtype), np.inf)


def compare_one(number, made, wanted, shaken, dtype, bound=None):
    if is_float(dtype):
        with np.errstate(all="ignore"):
            allowed = allowance(wanted, shaken, dtype, bound)
        wrong, far = wrong_floats(made, wanted, allowed, dtype)
    else:
        wrong = ~same(made, wanted)
        far = np.abs(made.astype("c16") - wanted.astype("c16"))
        if dtype.startswith("complex"):
            scale = np.max([np.abs(one - wanted) for one in shaken], axis=0).max(initial=0) * TIMES
            wrong = far > scale + 4e-7 * np.abs(wanted)
    if not wrong.any():
        return None
    worst = np.unravel_index(np.argmax(np.where(wrong, far, -1)), wrong.shape)
    index = tuple(int(i) for i in worst)
    elements = int(wrong.sum())
    return Deviation(
        number, dtype, index, made[worst].item(), wanted[worst].item(), float(far[worst]), elements, made.size
    )


def compare(task):
    """The worst deviation of what the task wrote, or None. Raises UnknownError where there is no reference."""
    wanted = evaluate.run(task)
    floats = [number for number in wanted if is_float(task.tensors[number]["dtype"])]
    known = bounds(task) if floats else {}
    inexact = [number for number in wanted if task.tensors[number]["dtype"] not in EXACT and number not in known]
    shaken = [evaluate.run(task, seed) for seed in SHAKES] if inexact else []
    found = []
    for number, array in wanted.items():
        if task.tensors[number]["after"] is None:
            continue
        others = [np.asarray(one[number]) for one in shaken]
        made = task.array(number, "after")
        dtype = task.tensors[number]["dtype"]
        found.append(compare_one(number, made, np.asarray(array), others, dtype, known.get(number)))
    return max(filter(None, found), key=lambda one: one.ulps, default=None)
