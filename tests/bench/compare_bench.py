# SPDX-License-Identifier: Apache-2.0
"""How fast dumps are compared: all ten metrics from the page cache, many small tensors, start-up, and the published
msaccucmp on the same folder, alternating with ours in one run (where `make clients` has put it into
build/msprobe).

python tests/bench/compare_bench.py [--pairs 7] [--published DIR]
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/clients"))
import msaccucmp as client  # noqa: E402 - it writes dump files

FLOAT, ND = 1, 2
PROGRAM = ROOT / "build/bin/anynpu-compare"


def folders(root, count, elements):
    rng = np.random.default_rng(0)
    sides = [pathlib.Path(root, name) for name in ("mine", "golden")]
    for side in sides:
        side.mkdir(parents=True)
    for number in range(count):
        golden = rng.standard_normal(elements, dtype=np.float32)
        for side, blob in zip(sides, (golden * np.float32(1.001), golden), strict=True):
            tensor = ("output", FLOAT, ND, [elements], [elements], blob.tobytes())
            client.write(side / client.file_name("Op", f"op_{number}", number), [tensor], f"op_{number}")
    return [word for flag, side in zip(("-m", "-g"), sides, strict=True) for word in (flag, str(side))]


def seconds(command, environment=None):
    with tempfile.TemporaryDirectory() as output:
        more = ["-out", output] if "-h" not in command else []
        start = time.perf_counter()
        subprocess.run(
            [*map(str, command), *more], env=os.environ | (environment or {}), capture_output=True, check=True
        )
        return time.perf_counter() - start


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.3g} [{low:.3g}, {high:.3g}]"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--published", type=pathlib.Path, default=ROOT / "build/msprobe")
    args = parser.parse_args()
    ours = [PROGRAM, "compare"]
    with tempfile.TemporaryDirectory(prefix="anynpu_") as folder:
        given, size = folders(f"{folder}/large", 8, 1 << 24), 2 * 8 * 4 << 24
        one = {"ANYNPU_THREADS": "1"}
        rates = [size / 1e9 / seconds([*ours, *given], one) for _ in range(args.pairs + 1)][1:]
        print(f"ten metrics of 8 pairs of 64 MB, one core: {quartiles(rates)} GB/s of both sides (target: at least 2)")
        given = folders(f"{folder}/small", 10_000, 1024)
        took = [seconds([*ours, *given]) for _ in range(args.pairs + 1)][1:]
        print(f"10,000 pairs of 4 kB: {quartiles(took)} s (target: below 1)")
        took = [seconds([PROGRAM, "compare", "-h"]) * 1e3 for _ in range(args.pairs + 1)][1:]
        print(f"start-up: {quartiles(took)} ms (target: at most 30)")
        script = args.published / "msprobe/msaccucmp/msaccucmp.py"
        if not script.is_file():
            return print(f"the published msaccucmp is not in {args.published}: no ratio")
        environment = {"PYTHONPATH": str(args.published), "LD_LIBRARY_PATH": str(ROOT / "build/tools/adump/lib64")}
        given = folders(f"{folder}/both", 40, 1 << 20)
        ratios = []
        for _ in range(args.pairs):
            theirs = seconds([sys.executable, script, "compare", *given], environment)
            ratios.append(theirs / seconds([*ours, *given]))
        print(f"40 pairs of 4 MB: {quartiles(ratios)} times as fast as the published tool (target: at least 20)")


if __name__ == "__main__":
    main()
