# SPDX-License-Identifier: Apache-2.0
"""Collectives between hosts against OpenMPI and torch's gloo over the same wire, in the same run; and a step of
DistributedDataParallel against torch on the CPU with gloo.

Hosts are those of tests/hosts: namespaces of this machine, joined by a bridge, which gives what its processors copy.
Rank r of each implementation is bound to processor r (modulo their number); all start at once and wait in read() while
others are measured. Rounds alternate; ratios are medians with their quartiles, above 1 where ours is faster.

    python tests/bench/hosts_bench.py [--ranks 1 2] [--pairs 7] [--only all_reduce ddp] [--sizes "64 KB"]

--ranks: of each of the two hosts. Needs the right to make namespaces (root).
"""

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "hosts"))

import cluster  # noqa: E402
import collective_bench  # noqa: E402
from collective_bench import COMM_BENCH, ROOT, verdict  # noqa: E402

HOSTS = 2
SIZES = {"1 KB": 256, "16 KB": 4096, "64 KB": 16384, "1 MB": 262144, "16 MB": 4194304, "64 MB": 16777216}  # float32
OPERATIONS = ("all_reduce", "all_gather", "all_to_all")
TARGET = 1.0  # of each at 64 KB and more
HIERARCHY_TARGET = 1.5  # geometric mean of these with 2 ranks a host
DDP_TARGET = 1.2


class NoAnswerError(Exception):
    """A rank has ended, or is silent."""


class Team(collective_bench.Team):
    """Ranks on hosts. `place`: which host and processor each has."""

    def answer(self):
        try:
            return super().answer()
        except SystemExit as error:
            raise NoAnswerError(str(error)) from None


def on_hosts(hosts, size, command):
    """Each rank's, made by command(rank, local_rank); ranks follow the hosts."""
    each = size // HOSTS
    return [hosts[rank // each].words(*command(rank, rank % each)) for rank in range(size)]


def mpi_command(hosts, size, folder):
    """None where there is no MPI. mpirun has the network of a third host and the rest of this machine: it starts its
    daemons by our agent, which nobody within a host could call."""
    program = collective_bench.mpi_command(folder, size)
    if program is None:
        return None
    each = size // HOSTS
    places = ",".join(f"{host.address}:{each}" for host in list(hosts)[:HOSTS])
    network = ["--mca", "oob_tcp_if_include", "eth0", "--mca", "btl_tcp_if_include", "eth0"]
    agent = ["--mca", "plm_rsh_agent", str(hosts.agent(folder)), "--host", places, "--map-by", "slot"]
    enter = ["nsenter", f"--net={hosts[HOSTS].space('net')}"]
    at = program.index("-n")
    return [*enter, *program[:at], *agent, *network, "--mca", "btl", "self,vader,tcp", *program[at:]]


def answering(team, host):
    """The team, or None and a line that says why it does not take part: it does not answer, or what it says to another
    host does not go over the wire."""
    before = sum(host.traffic())
    try:
        team.run("step" if "ddp" in team.name else "all_reduce", SIZES["1 MB"], 1)
        if sum(host.traffic()) - before > 1_000_000:
            return team
        reason = "its data do not go over the wire"
    except NoAnswerError as error:
        reason = error
    print(f"{team.name} does not take part: {reason}", flush=True)
    for process in team.processes:
        process.kill()
    return None


def teams(hosts, size, folder):
    """By name, those that answer."""
    gloo = on_hosts(hosts, size, lambda rank, _: [sys.executable, HERE / "gloo_rank.py", folder, size, rank])
    made = {"gloo": Team("gloo", size, folder, gloo)}
    if mpi := mpi_command(hosts, size, folder):
        made["OpenMPI"] = Team("mpi", size, folder, [mpi])
    else:
        print("OpenMPI is not compared: as root, apt-get install -y openmpi-bin libopenmpi-dev")
    if COMM_BENCH.exists():
        ours = on_hosts(hosts, size, lambda rank, _: [COMM_BENCH, folder, size, rank])
        made["ours"] = Team("comm", size, folder, ours)
    else:
        print(f"{COMM_BENCH} is not there; configure with -DANYNPU_BENCHES=ON and build comm_bench")
    return {name: team for name, team in made.items() if answering(team, hosts[0])}


def rounds(found, operation, count, pairs):
    """{name: seconds} of each team, which take turns; the first round is a rehearsal."""
    times = {name: [] for name in found}
    for number in range(pairs + 1):
        for name, team in found.items():
            seconds = team.seconds(operation, count)
            if number > 0:
                times[name].append(seconds)
    return times


def compared(times, target):
    """Words for each of the others, and the medians of their ratios."""
    words, medians = [], {}
    for name in times:
        if name == "ours":
            continue
        if "ours" not in times:
            words.append(f"{name} {statistics.median(times[name]) * 1e6:.1f} us")
            continue
        ratios = [other / mine for other, mine in zip(times[name], times["ours"], strict=True)]
        low, medians[name], high = statistics.quantiles(ratios, n=4)
        aim = f"; target {target}: {verdict(medians[name] >= target)}" if target else ""
        words.append(f"{medians[name]:6.2f}x {name} ({low:.2f} to {high:.2f}{aim})")
    return ", ".join(words), medians


def line(head, times, target):
    text, medians = compared(times, target)
    mine = f"{statistics.median(times['ours']) * 1e6:9.1f} us, " if "ours" in times else "without ours, "
    print(f"{head}: {mine}{text}", flush=True)
    return medians


def collectives(each, options):
    with tempfile.TemporaryDirectory() as folder:
        size = HOSTS * each
        hosts = cluster.Cluster(HOSTS + 1, [folder])
        found = {}
        try:
            found = teams(hosts, size, folder)
            large = []
            for operation in (name for name in OPERATIONS if name in options.only):
                for name in options.sizes:
                    at_least = SIZES[name] >= SIZES["64 KB"]
                    times = rounds(found, operation, SIZES[name], options.pairs)
                    head = f"{operation:<10} {HOSTS} hosts x {each} {name:>5}"
                    medians = line(head, times, TARGET if at_least else None)
                    large += [(other, ratio) for other, ratio in medians.items() if at_least]
            mean(large, each)
        finally:
            for team in found.values():
                team.end()
            hosts.close()


def mean(large, each):
    for other in dict.fromkeys(name for name, _ in large):
        value = math.exp(statistics.mean(math.log(ratio) for name, ratio in large if name == other))
        aim = f" (target {HIERARCHY_TARGET}: {verdict(value >= HIERARCHY_TARGET)})" if each > 1 else ""
        print(f"{HOSTS} hosts x {each}, 64 KB and more: geometric mean {value:.2f}x {other}{aim}", flush=True)


def ddp(each, options):
    """Steps of an encoder, on NPUs with our collectives and on the CPU with gloo."""
    with tempfile.TemporaryDirectory() as folder:
        size, found = HOSTS * each, {}
        hosts = cluster.Cluster(HOSTS, [folder])
        try:
            for name, backend in (("ours", "hccl"), ("torch+gloo", "gloo")):
                commands = on_hosts(
                    hosts, size, lambda rank, local, backend=backend: [
                        sys.executable, HERE / "hosts_ddp_rank.py", folder, size, rank, backend, local,
                    ],
                )  # fmt: skip
                if team := answering(Team(f"ddp_{backend}", size, folder, commands), hosts[0]):
                    found[name] = team
            times = rounds(found, "step", 1, options.pairs)
            line(f"DDP step of an encoder, {HOSTS} hosts x {each}", times, DDP_TARGET)
        finally:
            for team in found.values():
                team.end()
            hosts.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--only", nargs="+", choices=(*OPERATIONS, "ddp"), default=(*OPERATIONS, "ddp"))
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=SIZES)
    options = parser.parse_args()
    if reason := cluster.refusal():
        return print(f"hosts_bench is left out: {reason}")
    assert ROOT == cluster.ROOT
    for each in options.ranks:
        if set(options.only) & set(OPERATIONS):
            collectives(each, options)
    if "ddp" in options.only:
        ddp(1, options)


if __name__ == "__main__":
    try:
        main()
    except (NoAnswerError, subprocess.CalledProcessError) as error:
        sys.exit(f"hosts_bench: {error}")
