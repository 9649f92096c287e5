# SPDX-License-Identifier: Apache-2.0
"""How fast the migration tool is, over the Python files of the packages installed in .venv.

Prints start-up, milliseconds per file (median over runs with one thread on files of their own), MB/s of one core, and
wall time and memory of a run over 5,000 files, each with its target. Times of a machine that does other things are too
long; the least of several is told.

python tests/bench/migrate_bench.py [--files 5000]
"""

import argparse
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/bin/anynpu-migrate"
MEGA = 1 << 20


def run(*arguments):
    """(seconds, peak memory in bytes, seconds of CPU) of one run, whose output is thrown away."""
    start = time.perf_counter()
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1: some files of the corpus are no text
        sys.exit(f"anynpu-migrate {arguments} ended with {process.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime


def least(*arguments, runs=5):
    return min(run(*arguments)[0] for _ in range(runs))


def sources():
    """Files that import a framework come first: they are what users migrate; then the others."""
    folders = (folder for folder in map(pathlib.Path, sys.path) if folder.name == "site-packages")
    paths = sorted(path for folder in folders for path in folder.rglob("*.py") if path.is_file())
    wanted = {"torch", "keras", "tensorflow", "torchvision", "torch_npu", "sklearn"}
    return sorted(paths, key=lambda path: not wanted & set(path.parts))


def show(what, value, unit, target, met):
    print(f"{what:<34}{value:>10.1f} {unit:<8}target {target:<12}{'met' if met else 'MISSED'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=5000)
    options = parser.parse_args()
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is not built; run: ninja -C build anynpu-migrate")
    files = sources()[: options.files]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        empty, tree = folder / "empty.py", folder / "tree"
        empty.write_text("")
        startup = least(empty, "--dry-run", runs=20)
        for i, path in enumerate(files):
            copy = tree / str(i // 100) / f"m{i}.py"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        chosen = random.Random(0).sample(sorted(tree.rglob("*.py")), min(60, len(files)))
        single = statistics.median(max(0.0, least(path, "--dry-run", runs=3) - startup) for path in chosen)
        size = sum(path.stat().st_size for path in tree.rglob("*.py"))
        wall, memory, cpu = run(tree, "-o", folder / "out")
    cores = len(os.sched_getaffinity(0))
    print(f"{len(files)} files, {size / MEGA:.1f} MB, {cores} cores")
    show("start-up", startup * 1e3, "ms", "<= 50", startup <= 0.05)
    show("a file (median, less start-up)", single * 1e3, "ms", "<= 5", single <= 0.005)
    show("one core (of CPU time)", size / MEGA / cpu, "MB/s", ">= 3", size / MEGA / cpu >= 3)
    show(f"{len(files)} files", wall, "s", "< 60", wall < 60)
    show("peak memory", memory / MEGA, "MB", "<= 200", memory <= 200 * MEGA)


if __name__ == "__main__":
    main()
