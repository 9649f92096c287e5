# SPDX-License-Identifier: Apache-2.0
"""The model of hosts_model.py against all_reduce as it runs: comm_bench on namespaces of this machine.

All hosts are one machine here, and what cards would do its processors do, as they do all else: each of the model's
terms is the work of all ranks, or of all cards, shared among them. What a wait, a message and a byte then cost is
fitted to the layouts of FITTED, least squares of relative errors; those of TRIED have had no say."""

import os
import statistics
import sys
import tempfile
from pathlib import Path

HOSTS = Path(__file__).resolve().parents[1] / "hosts"
sys.path.insert(0, str(HOSTS))

import cluster  # noqa: E402
import numpy  # noqa: E402
from collective_bench import COMM_BENCH, Team  # noqa: E402
from hosts_model import KB, MB, ours  # noqa: E402

FITTED = ((2, 1), (2, 2), (4, 1), (2, 8))  # hosts, ranks of each; what ranks of a host do weighs where they are many
TRIED = ((2, 4), (4, 2), (8, 1), (4, 4), (8, 2), (4, 8), (8, 4))
SIZES = {"1 KB": KB, "64 KB": 64 * KB, "1 MB": MB, "16 MB": 16 * MB}
ROUNDS = 9
TERMS = ("us a wait or step", "us a message", "us a MB sent", "us a MB read or written")


def measured(hosts, ranks):
    """{size: microseconds} of this layout."""
    with tempfile.TemporaryDirectory() as folder:
        made = cluster.Cluster(hosts, [folder])
        team = None
        try:
            size = hosts * ranks
            environment = ["nice", "-n", "-20", "env", "ANYNPU_DEVICES=64"]  # others may use this machine, too
            commands = [made[rank // ranks].words(*environment, COMM_BENCH, folder, size, rank) for rank in range(size)]
            team = Team("comm", size, folder, commands)
            out = {}
            for name, bytes_ in SIZES.items():
                times = [team.seconds("all_reduce", bytes_ // 4) for _ in range(ROUNDS + 1)][1:]
                out[name] = min(times) * 1e6
            return out
        finally:
            if team:
                team.end()
            made.close()


def terms(hosts, ranks, size, processors):
    """What each number of the model is multiplied with."""
    load = ours(hosts, ranks, size)
    share = hosts * ranks / processors
    return [
        share * (load.waits + load.steps),
        share * load.messages,
        hosts * load.sent / processors / MB,
        share * load.worked / MB,
    ]


def fitted(rows, times):
    """The numbers, none of them negative."""
    scaled = numpy.array(rows) / numpy.array(times)[:, None]
    kept = list(range(scaled.shape[1]))
    while True:
        found, *_ = numpy.linalg.lstsq(scaled[:, kept], numpy.ones(len(times)), rcond=None)
        if (found >= 0).all():
            out = numpy.zeros(scaled.shape[1])
            out[kept] = found
            return out
        kept.pop(int(found.argmin()))


def run():
    if reason := cluster.refusal():
        return print(f"hosts_check is left out: {reason}")
    processors = os.cpu_count()
    seen = {}
    for layout in (*FITTED, *TRIED):
        for name, us in measured(*layout).items():
            seen[layout, name] = us
    rows = {key: terms(*key[0], SIZES[key[1]], processors) for key in seen}
    learnt = [key for key in seen if key[0] in FITTED]
    numbers = fitted([rows[key] for key in learnt], [seen[key] for key in learnt])
    print(", ".join(f"{number:.1f} {word}" for number, word in zip(numbers, TERMS, strict=True)))
    ratios = {True: [], False: []}
    for (layout, name), us in seen.items():
        modelled = float(numpy.dot(rows[layout, name], numbers))
        ratios[layout in FITTED].append(us / modelled)
        kind = "fitted" if layout in FITTED else "tried"
        print(f"{layout[0]} hosts x {layout[1]} {name:>6}: measured {us:9.0f} us, modelled {modelled:9.0f} us, "
              f"{us / modelled:5.2f}x ({kind})", flush=True)  # fmt: skip
    for known, values in ratios.items():
        off = [max(value, 1 / value) for value in values]
        print(f"{'fitted' if known else 'tried'}: off by {statistics.median(off):.2f}x in the median, "
              f"{max(off):.2f}x at most, {len(off)} cases")  # fmt: skip
    return None
