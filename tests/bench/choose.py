# SPDX-License-Identifier: Apache-2.0
"""Writes ops/cube/choices_table.h: which way computes products and convolutions on this class of CPU.

    python tests/bench/choose.py build/ops_bench

The bench times both ways of some shapes of each class; the rows of this CPU are replaced, those of others stay. The
house's kernels are taken where they are at most 5 % slower: they need no compilation at a first call. Run it on a
quiet machine, twice: classes that differ between runs are level, and either way is right.
"""

import argparse
import collections
import json
import pathlib
import re
import statistics
import subprocess
import sys

import cpu

TABLE = pathlib.Path(__file__).parents[2] / "ops/cube/choices_table.h"
NAMES = {"Zen 4": "kZen4", "Zen 5": "kZen5"}
WORKS = {"conv_forward": "kConvForward", "conv_backward_weights": "kConvBackwardWeights", "product": "kProduct"}
DTYPES = {"float32": "kFloat", "bfloat16": "kBFloat16"}
LEVEL = 1.05  # the most that own kernels may take of the library's time

HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// Written by tests/bench/choose.py, which measures; see choices.h.
#pragma once

#include "ops/cube/choice_row.h"

namespace npu::ops::cube {

// clang-format off
inline constexpr Choices kChoices[] = {
"""
TAIL = """\
};
// clang-format on

}  // namespace npu::ops::cube
"""


def times(report):
    """{(work, dtype, variant, least rows): {size: {shape: {way: its shortest time}}}} of a report of Google
    Benchmark."""
    found = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(dict)))
    for run in report["benchmarks"]:
        if run.get("run_type") == "aggregate":
            continue
        _, work, dtype, variant, rows, size, shape, way = run["name"].removesuffix("/real_time").split("/")
        ways = found[work, dtype, variant == "1", int(rows)][int(size)][shape]
        ways[way] = min(run["real_time"], ways.get(way, float("inf")))
    return found


def ratio(shapes):
    """The library's time by that of the own kernels, as a geometric mean."""
    return statistics.geometric_mean(ways["library"] / ways["own"] for ways in shapes.values())


def letters(sizes):
    """One for each size, as Choices.ways has them."""
    return "".join("o" if ratio(shapes) * LEVEL >= 1 else "l" for _, shapes in sorted(sizes.items()))


def row(name, key, sizes):
    work, dtype, variant, rows = key
    return (
        f"    {{CpuClass::{name}, Work::{WORKS[work]}, DType::{DTYPES[dtype]}, "
        f'{str(variant).lower()}, {rows}, "{letters(sizes)}"}},'
    )


def rows(name, found):
    """Sorted by work, dtype, variant and rows, as takes_own reads them."""
    order = sorted(found, key=lambda k: (list(WORKS).index(k[0]), list(DTYPES).index(k[1]), k[2], k[3]))
    return [row(name, key, found[key]) for key in order]


def merged(text, name, new):
    """The table `text` with the rows of CPU `name` replaced by `new`; CPUs stand in the order of NAMES."""
    others = [line for line in re.findall(r"^    \{CpuClass::.*$", text, re.M) if f"CpuClass::{name}," not in line]
    place = {f"CpuClass::{n}": i for i, n in enumerate(NAMES.values())}
    kept = sorted(others + new, key=lambda line: place[re.search(r"CpuClass::\w+", line)[0]])
    return HEAD + "\n".join(kept) + "\n" + TAIL


def measure(bench):
    command = [bench, "--benchmark_filter=^choice/", "--benchmark_format=json", "--benchmark_min_time=0.02",
               "--benchmark_repetitions=5", "--benchmark_enable_random_interleaving=true"]  # fmt: skip
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", help="the program ops_bench, of a build with -DANYNPU_BENCHES=ON")
    kind = cpu.describe(threads=None)["class"]
    options = parser.parse_args()
    if kind not in NAMES:
        sys.exit(f"this CPU is {kind}; the own kernels run on {' and '.join(NAMES)}, elsewhere oneDNN computes")
    found = times(measure(options.bench))
    for key, sizes in found.items():
        ratios = " ".join(f"{ratio(shapes):5.2f}" for _, shapes in sorted(sizes.items()))
        print(*key, "library's time by own:", ratios)
    TABLE.write_text(merged(TABLE.read_text(), NAMES[kind], rows(NAMES[kind], found)))


if __name__ == "__main__":
    main()
