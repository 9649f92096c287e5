# SPDX-License-Identifier: Apache-2.0
"""What a bench found: a row for each case, geometric means for each group, and all of it as JSON."""

import argparse
import json
import pathlib
import statistics
import time

import cpu
import limit

geometric_mean = statistics.geometric_mean


def arguments(text=None):
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def quiet():
    """Before each timing of either side: the threads of the other one look around for work for some 5 ms before they
    sleep (libgomp's, torch's, TensorFlow's), on the cores that are to be timed."""
    time.sleep(0.02)


def case(name, group, times, bound=None, peak=None):
    """A row: `times` are pairs of seconds, on the CPU and on the NPU, `peak` the most bytes that the NPU held."""
    taken = {side: statistics.median(t[i] for t in times) for i, side in enumerate(("cpu", "npu"))}
    ratio = statistics.quantiles([c / n for c, n in times], n=4)
    row = {"name": name, "group": group, "ratio": ratio, "seconds": taken}
    if bound:
        row |= {"bound": bound, "share": {side: bound["seconds"] / s for side, s in taken.items()}}
    if peak is not None:
        row["peak"] = peak
    return row


def shares(row):
    return f"CPU {100 * row['share']['cpu']:4.0f} %, NPU {100 * row['share']['npu']:4.0f} %" if "share" in row else ""


def line(row):
    low, middle, high = row["ratio"]
    under = [f"of {row['bound']['limit']}: {shares(row)}"] if "bound" in row else []
    peak = [f"at most {row['peak'] / 2**20:.0f} MiB"] if "peak" in row else []
    took = f"{row['name']:45s} {middle:5.2f}x [{low:.2f}, {high:.2f}]  NPU {row['seconds']['npu'] * 1e3:9.3f} ms"
    return "  ".join([took, *under, *peak])


def groups(rows):
    """{group: its cases, the lowest ratio, geometric means of the ratios and of the shares}."""
    found = {}
    for name in dict.fromkeys(row["group"] for row in rows):
        mine = [row for row in rows if row["group"] == name]
        ratios = [row["ratio"][1] for row in mine]
        found[name] = {"cases": len(mine), "ratio": geometric_mean(ratios), "lowest": min(ratios)}
        if known := [row["share"] for row in mine if "share" in row]:
            found[name]["share"] = {side: geometric_mean([share[side] for share in known]) for side in ("cpu", "npu")}
    return found


def group_line(name, group):
    means = f"geometric mean {group['ratio']:.2f}x, lowest {group['lowest']:.2f}x"
    return f"{name:12s} {group['cases']:2d} cases: {means}  {shares(group)}".rstrip()


class Results:
    """Prints what the machine is, then each case as it is added, then the groups."""

    def __init__(self, bench, threads):
        self.bench, self.cpu, self.rows = bench, cpu.describe(threads), []
        self.rates = {count: limit.measure(self.cpu, count) for count in sorted({1, threads})}
        print(cpu.sentence(self.cpu))
        for rates in self.rates.values():
            print(*limit.sentences(rates), sep="\n", flush=True)

    def add(self, name, group, times, work=None, peak=None):
        rates = self.rates[self.cpu["threads"]]
        self.rows.append(case(name, group, times, limit.bound(work, self.cpu, rates), peak))
        print(line(self.rows[-1]), flush=True)

    def close(self, path=None):
        for name, group in groups(self.rows).items():
            print(group_line(name, group))
        if path:
            path.write_text(json.dumps(self.json(), indent=1) + "\n")

    def json(self):
        limits = [rates for rates in self.rates.values() if rates]
        return {"bench": self.bench, "cpu": self.cpu, "limits": limits, "cases": self.rows, "groups": groups(self.rows)}
