# SPDX-License-Identifier: Apache-2.0
"""What the conformance test goes through: all cases, or few of them that hold every pair of values."""

import itertools
import random
from collections import namedtuple

from conform_job import cases, has_parts, reduces
from hccl_c import DTYPES

REDUCED = {**DTYPES, "bfloat16": 11}
# Elements that are only moved, as bytes: the number of the C interface and the size of one.
MOVED = {
    "int128": (12, 16),
    "hifloat8": (14, 1),
    "float8_e4m3": (15, 1),
    "float8_e5m2": (16, 1),
    "float8_e8m0": (17, 1),
}
NUMBERS = {**REDUCED, **{name: number for name, (number, _) in MOVED.items()}}
OPS = range(4)  # sum, prod, max, min
MB = 1 << 20

# Elements for elements of so many bytes, on so many ranks. The limits are those of comm/: kTinyBytes, kInlineMessage,
# kInlineBytes, kPart of comm/core/reduce.cpp, slices of 64 elements, kPastCache and kLarge.
SIZES = {
    "0": lambda unit, ranks: 0,
    "1": lambda unit, ranks: 1,
    "24 bytes": lambda unit, ranks: 24 // unit,
    "24 bytes and 1": lambda unit, ranks: 24 // unit + 1,
    "odd, fewer slices than ranks": lambda unit, ranks: 127,
    "1024 bytes": lambda unit, ranks: 1024 // unit,
    "1024 bytes and 1": lambda unit, ranks: 1024 // unit + 1,
    "4096 bytes": lambda unit, ranks: 4096 // unit,
    "4096 bytes and 1": lambda unit, ranks: 4096 // unit + 1,
    "four parts and 1": lambda unit, ranks: 4097,
    "70001": lambda unit, ranks: 70001,
    "4 MB less 1": lambda unit, ranks: 4 * MB // unit - 1,
    "4 MB": lambda unit, ranks: 4 * MB // unit,
    "64 MB": lambda unit, ranks: 64 * MB // unit,
}
Case = namedtuple("Case", "name dtype op size in_place")


def unit_of(dtype):
    """Bytes of an element."""
    if dtype in MOVED:
        return MOVED[dtype][1]
    return 2 if dtype == "bfloat16" else int("".join(filter(str.isdigit, dtype))) // 8


def count_of(case, ranks):
    """Elements of a part; at 64 MB it is the larger buffer that has so many."""
    count = SIZES[case.size](unit_of(case.dtype), ranks)
    return count // ranks if case.size == "64 MB" and has_parts(case.name) else count


def product():
    """All cases, in one order."""
    out = []
    for (name, described), size in itertools.product(cases().items(), SIZES):
        dtypes, ops = (REDUCED, OPS) if reduces(name) else (NUMBERS, (None,))
        out += [Case(name, *rest) for rest in itertools.product(dtypes, ops, (size,), described.in_place)]
    return out


def pairs_of(case):
    """In one order: all ranks must choose the same cases."""
    return [(i, case[i], j, case[j]) for i, j in itertools.combinations(range(len(case)), 2)]


def pairwise(seed):
    """So few cases that every two values which stand together in some case do so in one of these. Greedy: of cases
    drawn, the one with most pairs that are still missing."""
    draw = random.Random(seed)
    all_cases = product()
    draw.shuffle(all_cases)
    having = {}
    for case in all_cases:
        for pair in pairs_of(case):
            having.setdefault(pair, []).append(case)
    missing, out = dict.fromkeys(having), []
    while missing:
        holders = having[next(iter(missing))]  # a first one that is missing, so each round ends something
        drawn = draw.sample(holders, min(len(holders), 30))
        best = max(drawn, key=lambda case: sum(pair in missing for pair in pairs_of(case)))
        out.append(best)
        for pair in pairs_of(best):
            missing.pop(pair, None)
    return out
