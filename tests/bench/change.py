# SPDX-License-Identifier: Apache-2.0
"""What changed between two runs of a bench: case by case the old ratio, the new one and the change, the worst first.

python tests/bench/change.py OLD.json NEW.json; ends with 1 where a case became slower beyond both quartiles.
"""

import json
import pathlib
import sys


def changes(old, new):
    """(new median / old median, name, old quartiles, new quartiles) of the cases in both, the worst first."""
    before = {case["name"]: case["ratio"] for case in old["cases"]}
    both = [case for case in new["cases"] if case["name"] in before]
    return sorted(
        (case["ratio"][1] / before[case["name"]][1], case["name"], before[case["name"]], case["ratio"]) for case in both
    )


def slower(old, new):
    """The new run's upper quartile lies below the old one's lower: more than what runs differ by."""
    return new[2] < old[0]


def told(ratio):
    low, middle, high = ratio
    return f"{middle:5.2f}x [{low:.2f}, {high:.2f}]"


def missing(old, new):
    """Names of cases that one of the runs has alone."""
    names = [{case["name"] for case in run["cases"]} for run in (old, new)]
    return sorted(names[0] - names[1]), sorted(names[1] - names[0])


def report(old, new):
    """Lines, and whether a case became slower."""
    lines, worse = [], False
    if old["cpu"]["class"] != new["cpu"]["class"] or old["cpu"]["threads"] != new["cpu"]["threads"]:
        told_cpus = (f"{run['cpu']['class']}, {run['cpu']['threads']} threads" for run in (old, new))
        lines.append("different machines: {} and {}".format(*told_cpus))
    for change, name, before, after in changes(old, new):
        mark = "  slower" if slower(before, after) else ""
        worse = worse or bool(mark)
        lines.append(f"{name:45s} {told(before)} -> {told(after)}  {100 * (change - 1):+6.1f} %{mark}")
    for which, names in zip(("old", "new"), missing(old, new), strict=True):
        lines += [f"{name:45s} in the {which} run only" for name in names]
    return lines, worse


def main():
    if len(sys.argv) != 3 or "" in sys.argv:
        sys.exit("usage: make bench-compare OLD=a.json NEW=b.json")
    lines, worse = report(*(json.loads(pathlib.Path(path).read_text()) for path in sys.argv[1:]))
    print(*lines, sep="\n")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
