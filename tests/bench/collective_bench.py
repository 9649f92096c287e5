# SPDX-License-Identifier: Apache-2.0
"""Collectives between processes of this host against OpenMPI and torch's gloo, in the same run.

Rank r of each implementation is bound to processor r (modulo their number); all start at once and wait in read() while
others are measured. Pairs alternate; the median ratio stands there with its quartiles. The limit is memcpy: every rank
copies, all at once, the bytes that the operation reads and writes for it.

    python tests/bench/collective_bench.py [--ranks 2 4 8] [--pairs 7] [--only all_reduce]

Sizes are those of the larger of a rank's two buffers. OpenMPI takes part where mpicxx and mpirun are installed.
"""

import argparse
import os
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COMM_BENCH = ROOT / "build/comm_bench"
SIZES = {"4 B": 1, "64 KB": 16384, "1 MB": 262144, "64 MB": 16777216}  # float32
OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
# How many times faster than OpenMPI and gloo all_reduce shall be, by size; the others are never slower than OpenMPI.
MPI_TARGETS = {2: (1.4, 5, 2.5, 2.5), 4: (1.5,) * 4, 8: (1.5,) * 4}
GLOO_TARGET = 7
SHARE_TARGET = 0.8  # of the limit, for the others
CLIENT_TARGET = 5  # microseconds of an HcclAllReduce that is waited for, on 2 ranks
SECONDS = 0.06  # that a measurement takes, about
PATIENCE = 120  # seconds for one answer


class Team:
    """The ranks of one implementation: a pipe of questions for each, one pipe for all their answers."""

    def __init__(self, name, size, folder, commands):
        self.name = name
        self.size = size
        paths = [f"{folder}/{name}.{rank}" for rank in range(size)]
        for path in paths:
            os.mkfifo(path)
        # Opened for both ways, a pipe waits for nobody.
        self.questions = [os.fdopen(os.open(path, os.O_RDWR | os.O_CLOEXEC), "w") for path in paths]
        self.answers, writer = os.pipe()
        self.heard = b""
        self.processes = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=writer) for command in commands]
        os.close(writer)
        self.calls = {}

    def answer(self):
        """The next "rank seconds"; what else a program says goes to stderr."""
        while True:
            line, end, rest = self.heard.partition(b"\n")
            if end:
                self.heard = rest
                words = line.split()
                if len(words) == 2 and words[0].isdigit():
                    return float(words[1])
                sys.stderr.write(f"{self.name}: {line.decode(errors='replace')}\n" if line else "")
            elif not select.select([self.answers], [], [], PATIENCE)[0]:
                sys.exit(f"{self.name}: no answer within {PATIENCE} s")
            elif more := os.read(self.answers, 4096):
                self.heard += more
            else:
                sys.exit(f"{self.name}: a rank has ended")

    def run(self, operation, count, calls):
        for pipe in self.questions:
            pipe.write(f"{operation} {count} {calls}\n")
            pipe.flush()
        return max(self.answer() for _ in range(self.size)) / calls

    def seconds(self, operation, count):
        """Of one call; how many calls make a measurement is found at the first."""
        key = operation, count
        if key not in self.calls:
            calls = 3
            while (took := self.run(operation, count, calls) * calls) < SECONDS / 4 and calls < 1 << 20:
                calls *= 4
            self.calls[key] = max(3, int(calls * SECONDS / took))
        return self.run(operation, count, self.calls[key])

    def end(self):
        for pipe in self.questions:
            pipe.close()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def mpi_command(folder, size):
    """None where there is no MPI."""
    if not shutil.which("mpicxx") or not shutil.which("mpirun"):
        return None
    program = f"{folder}/mpi_rank"
    subprocess.run(["mpicxx", "-std=c++20", "-O2", f"-I{ROOT}", HERE / "mpi_rank.cpp", "-o", program], check=True)
    options = ["--bind-to", "none", "--oversubscribe"]
    if os.geteuid() == 0:
        options.append("--allow-run-as-root")
    if size > 2:
        options += ["--mca", "mpi_yield_when_idle", "1"]
    return ["mpirun", "-n", str(size), *options, program, folder]


def teams(folder, size):
    ours = [[COMM_BENCH, folder, str(size), str(rank)] for rank in range(size)]
    gloo = [[sys.executable, HERE / "gloo_rank.py", folder, str(size), str(rank)] for rank in range(size)]
    mpi = mpi_command(folder, size)
    return (
        Team("comm", size, folder, ours),
        Team("mpi", size, folder, [mpi]) if mpi else None,
        Team("gloo", size, folder, gloo),
    )


def client_team(folder, size):
    """A client of the C interface: calls are queued on a stream and waited for."""
    program, libraries = f"{folder}/hccl_rank", ROOT / "build/lib"
    if not (libraries / "libanynpu.so").exists():
        sys.exit(f"{libraries}/libanynpu.so is not there; build the target anynpu")
    flags = [
        "-std=c++20",
        "-O2",
        f"-I{ROOT}/acl/include",
        f"-I{ROOT}",
        f"-L{libraries}",
        "-lanynpu",
        f"-Wl,-rpath,{libraries}",
    ]
    subprocess.run(["c++", HERE / "hccl_rank.cpp", *flags, "-o", program], check=True)
    return Team("hccl", size, folder, [[program, folder, str(size), str(rank)] for rank in range(size)])


def measure_client(size, pairs):
    with tempfile.TemporaryDirectory() as folder:
        team = client_team(folder, size)
        try:
            low, middle, high = statistics.quantiles((team.seconds("all_reduce", 1) * 1e6 for _ in range(pairs)), n=4)
        finally:
            team.end()
    print(
        f"HcclAllReduce with aclrtSynchronizeStream {size} ranks 4 B: {middle:.2f} us ({low:.2f} to {high:.2f})"
        + (f" (target {CLIENT_TARGET}: {verdict(middle <= CLIENT_TARGET)})" if size == 2 else ""),
        flush=True,
    )


def verdict(met):
    return "met" if met else "MISSED"


class Line:
    """One operation at one size: times and ratios of alternating pairs."""

    def __init__(self, operation, count, ours, mpi, gloo, pairs):
        self.times, self.copies = [], []
        self.ratios = {"OpenMPI": [], "gloo": []}
        others = {"OpenMPI": mpi, "gloo": gloo if operation == "all_reduce" else None}
        for pair in range(pairs + 1):
            mine = ours.seconds(operation, count)
            theirs = {name: team.seconds(operation, count) for name, team in others.items() if team}
            copy = ours.seconds("copy", count)
            if pair == 0:  # a rehearsal
                continue
            self.times.append(mine)
            self.copies.append(copy)
            for name, other in theirs.items():
                self.ratios[name].append(other / mine)

    def share(self, operation, size):
        """Of the limit. reduce_scatter writes 1/size of what it reads."""
        part = (1 + 1 / size) / 2 if operation == "reduce_scatter" else 1
        return part * statistics.median(copy / mine for copy, mine in zip(self.copies, self.times, strict=True))

    def ratio(self, name, target):
        if not self.ratios[name]:
            return ""
        low, middle, high = statistics.quantiles(self.ratios[name], n=4)
        return f", {middle:6.2f}x {name} ({low:.2f} to {high:.2f}; target {target}: {verdict(middle >= target)})"


def measure(operation, size, index, lines, pairs):
    name, count = list(SIZES.items())[index]
    count = count if operation == "all_reduce" else max(count, size)
    line = Line(operation, count, *lines, pairs)
    text = f"{operation:<14} {size} ranks {name if count > size else f'{4 * count} B':>6}: "
    text += f"{statistics.median(line.times) * 1e6:9.2f} us"
    reduces_all = operation == "all_reduce"
    text += line.ratio("OpenMPI", MPI_TARGETS.get(size, (1.5,) * 4)[index] if reduces_all else 1)
    text += line.ratio("gloo", GLOO_TARGET)
    if count * 4 >= 65536:
        share = line.share(operation, size)
        text += f", {share:.2f} of memcpy"
        if not reduces_all:
            text += f" (target {SHARE_TARGET}: {verdict(share >= SHARE_TARGET)})"
    print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--only", nargs="+", choices=OPERATIONS, default=OPERATIONS)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=SIZES)
    options = parser.parse_args()
    if not COMM_BENCH.exists():
        sys.exit(f"{COMM_BENCH} is not there; configure with -DANYNPU_BENCHES=ON and build comm_bench")
    if not shutil.which("mpicxx"):
        print("OpenMPI is not compared: as root, apt-get install -y openmpi-bin libopenmpi-dev")
    for size in options.ranks:
        with tempfile.TemporaryDirectory() as folder:
            lines = teams(folder, size)
            try:
                for operation in options.only:
                    for index, name in enumerate(SIZES):
                        if name in options.sizes:
                            measure(operation, size, index, lines, options.pairs)
            finally:
                for team in filter(None, lines):
                    team.end()
        measure_client(size, options.pairs)


if __name__ == "__main__":
    main()
