# SPDX-License-Identifier: Apache-2.0
"""Conformance cases by collective: what a rank sends, how it calls and what it must have then. A describe_*.py beside
this file has them; what else a case depends on is read from the collective's row in comm/collective."""

import dataclasses
import importlib
import re
from collections.abc import Callable
from ctypes import c_uint64
from functools import cache
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent
CASES = {}  # by name


def with_gaps(counts):
    """Where parts of these counts begin when one element is left free between two."""
    return [sum(counts[:i]) + i for i in range(len(counts))]


def packed(counts):
    return [sum(counts[:i]) for i in range(len(counts))]


def words(numbers):
    return (c_uint64 * len(numbers))(*numbers)


@dataclasses.dataclass
class Job:
    """What a rank sends, calls (with its buffers' addresses) and must have then, of `recv` elements. `at`: where, in
    place, the smaller buffer lies in the larger one."""

    send: numpy.ndarray
    recv: int
    want: numpy.ndarray
    call: Callable
    at: int = 0


@dataclasses.dataclass
class Description:
    make: Callable  # Job of a rank (conform.py) for so many elements
    row: str  # name of the collective
    in_place: tuple  # whether both buffers are one


def case(in_place=(False,), row=None):
    """Registers the function below it; `row` where its name is not the collective's."""

    def register(make):
        CASES[make.__name__] = Description(make, row or make.__name__, in_place)
        return make

    return register


@cache
def cases():
    """All, by name."""
    for path in sorted(HERE.glob("describe_*.py")):
        importlib.import_module(path.stem)
    return CASES


@cache
def rows():
    """{name: fields} of the collectives, as their sources register them."""
    found = {}
    for path in sorted((HERE.parents[1] / "comm/collective").glob("*.cpp")):
        for body in re.findall(r"^NPU_COLLECTIVE\(\w+,(.*?)\);$", path.read_text("utf-8"), re.MULTILINE | re.DOTALL):
            fields = dict(re.findall(r"\.(\w+) = ([^,]+)", body))
            found[fields["name"].strip('"')] = fields
    return found


def reduces(name):
    return rows()[cases()[name].row].get("reduces") == "true"


def has_parts(name):
    """Whether one of its buffers has a part for each rank."""
    row = rows()[cases()[name].row]
    return "true" in (row.get("sends_parts"), row.get("receives_parts"))
