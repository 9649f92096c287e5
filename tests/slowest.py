# SPDX-License-Identifier: Apache-2.0
"""The slowest tests of the last `tests/run … pytest`, and what each spent its time on: python tests/slowest.py [COUNT].

Of each test: seconds of the clock, of the CPU in the process of the tests, of the CPU in processes it started, and
seconds in which none of these ran (waiting: a sleep, a timeout, or another test that had the CPU). A test with 4 s and
more of CPU in other processes has mostly imported a framework there, unless it was forked (tests/support)."""

import sys
from pathlib import Path

TIMES = Path(__file__).resolve().parents[1] / "build/log/times"
COUNT = 100


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    if not TIMES.exists():
        sys.exit(f"{TIMES} is not there: `tests/run build install pytest` writes it")
    rows = []
    for line in TIMES.read_text(encoding="utf-8").splitlines():
        clock, own, children, forks, name = line.split("\t", 4)
        rows.append((float(clock), float(own), float(children), float(forks), name))
    rows.sort(reverse=True)
    total = sum(row[0] for row in rows)
    print(f"{len(rows)} tests, {total / 60:.1f} minutes one after the other; the {count} slowest:")
    print(f"{'clock':>7} {'own':>7} {'others':>7} {'waits':>7} {'forks':>6}")
    for clock, own, children, forks, name in rows[:count]:
        print(f"{clock:6.1f}s {own:6.1f}s {children:6.1f}s {max(0, clock - own - children):6.1f}s {forks:6.0f}  {name}")


if __name__ == "__main__":
    main()
