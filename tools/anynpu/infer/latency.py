# SPDX-License-Identifier: Apache-2.0
"""What times of runs come to: a table, and a dict for a file."""

import math

from anynpu.output import table

PARTS = {"copies in": "h2d_time_list", "run": "exec_time_list", "copies out": "d2h_time_list"}
FIGURES = ("min", "mean", "median", "p90", "p99", "max")


def quantile(ordered, share):
    """The smallest value that at least `share` of all do not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def figures(times):
    """{"min": …} of milliseconds; empty for none."""
    if not times:
        return {}
    ordered = sorted(times)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    values = (ordered[0], sum(ordered) / len(ordered), median, quantile(ordered, 0.9), quantile(ordered, 0.99))
    return dict(zip(FIGURES, (*values, ordered[-1]), strict=True))


def report(summary, batch):
    """{part: figures}, and how many samples a second the runs alone come to."""
    found = {part: figures(getattr(summary, times)) for part, times in PARTS.items()}
    mean = found["run"].get("mean", 0)
    return {
        "milliseconds": found,
        "runs": len(summary.exec_time_list),
        "throughput": 1000 * batch / mean if mean else 0,
    }


def text(found):
    rows = [
        [part, *(f"{values[figure]:.3f}" for figure in FIGURES)]
        for part, values in found["milliseconds"].items()
        if values
    ]
    shown = table.columns(["ms", *FIGURES], rows)
    return f"{shown}\n{found['runs']} runs, {found['throughput']:.1f} samples a second without copies"
