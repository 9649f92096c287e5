# SPDX-License-Identifier: Apache-2.0
"""What the minutes of a build are spent on: `make bench-build`, after a build from nothing (rm -rf build).

    python tests/bench/build_time.py [--build build] [--dearest 60] [--headers 25]

Three tables. The steps of the last build by target, from ninja's log: a step's seconds are those of the clock, so they
are right where nothing else ran. The compiler's phases over the dearest steps, compiled once more with -ftime-report.
The project's headers that most units read: what parsing each costs by itself, times the units that read it. Headers
include each other, so that these figures do not add up; they say where a forward declaration would help.
"""

import argparse
import collections
import os
import re
import shlex
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PHASE = re.compile(r"^ (?P<name>\S.*?)\s*:\s*(?P<user>[\d.]+) \(")
# What the report's lines are summed as; lines that are no phase are parts of the phases above them.
PHASES = {
    "parsing": ("phase parsing",),
    "templates at the end": ("phase lang. deferred",),
    "of both, instantiation": ("template instantiation",),
    "optimiser and code": ("phase opt and generate",),
    "of that, debug information": ("symout", "var-tracking dataflow", "var-tracking emit", "variable tracking"),
}


def ninja(folder, *arguments):
    return subprocess.run(["ninja", "-C", folder, *arguments], capture_output=True, text=True, check=True).stdout


def steps(folder):
    """[(seconds, start, end, output)] of the last time that each step ran."""
    last = {}
    for line in (folder / ".ninja_log").read_text().splitlines()[1:]:
        start, end, _, output, _ = line.split("\t")
        last[output] = (int(end) - int(start)) / 1000, int(start) / 1000, int(end) / 1000
    made = {}
    for output, (seconds, start, end) in last.items():  # a step with several outputs has a line for each
        made.setdefault((start, end), (seconds, start, end, output))
    return sorted(made.values(), reverse=True)


def kind(output):
    """What a step is counted as: the target of an object, or what else it makes."""
    if output.endswith(".gch"):
        return "precompiled headers"
    if match := re.match(r"CMakeFiles/([^/]+)\.dir/", output):
        return match[1]
    return "link and the rest"


def by_target(made):
    sums = collections.defaultdict(list)
    for seconds, _, _, output in made:
        sums[kind(output)].append(seconds)
    wall = max(end for _, _, end, _ in made)
    print(f"{sum(seconds for seconds, *_ in made) / 60:.1f} minutes of steps in {wall / 60:.1f} minutes of the clock")
    print(f"{'target':28} {'steps':>6} {'min':>6} {'longest':>8}")
    for name, seconds in sorted(sums.items(), key=lambda entry: -sum(entry[1])):
        print(f"{name:28} {len(seconds):6} {sum(seconds) / 60:6.1f} {max(seconds):7.1f}s")


def report_of(folder, output):
    """{line of -ftime-report: seconds} of one step, whose object is thrown away."""
    command = shlex.split(ninja(folder, "-t", "commands", "-s", output).strip())
    for option in ("-o", "-MF"):
        command[command.index(option) + 1] = os.devnull
    said = subprocess.run([*command, "-ftime-report"], cwd=folder, capture_output=True, text=True).stderr
    return {match["name"]: float(match["user"]) for match in map(PHASE.match, said.splitlines()) if match}


def by_phase(folder, outputs):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        reports = list(pool.map(lambda output: report_of(folder, output), outputs))
    total = sum(seconds for report in reports for line, seconds in report.items() if line.startswith("phase"))
    print(f"\nthe {len(outputs)} dearest steps: {total:.0f} CPU-seconds")
    for name, lines in PHASES.items():
        seconds = sum(report.get(line, 0) for report in reports for line in lines)
        print(f"{name:28} {seconds:6.0f}s {100 * seconds / max(total, 1e-9):5.1f} %")


def readers(folder):
    """{header of the project: how many objects read it}."""
    found = collections.Counter()
    for line in ninja(folder, "-t", "deps").splitlines():
        if line.startswith(" ") and line.endswith((".h", ".hpp")):
            path = (folder / line.strip()).resolve()
            if path.is_relative_to(ROOT) and not path.is_relative_to(folder):
                found[path.relative_to(ROOT)] += 1
    return found


def parse_time(folder, header):
    """CPU-seconds to parse a header that nothing has been parsed before."""
    include = [f"-I{ROOT}", f"-I{ROOT / 'acl/include'}", f"-I{folder / 'generated/include'}"]
    command = ["g++", "-std=c++20", "-DFMT_SHARED", "-fsyntax-only", *include, "-x", "c++", ROOT / header]
    before = os.times()
    done = subprocess.run(command, capture_output=True)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent if done.returncode == 0 else 0


def by_header(folder, count):
    costs = [(parse_time(folder, header), number, header) for header, number in readers(folder).most_common(4 * count)]
    print(f"\n{'header':44} {'alone':>6} {'units':>6} {'product':>8}")
    for seconds, number, header in sorted(costs, key=lambda cost: -cost[0] * cost[1])[:count]:
        print(f"{header!s:44} {seconds:5.2f}s {number:6} {seconds * number:7.0f}s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--dearest", type=int, default=60, help="steps whose phases are measured; 0: none")
    parser.add_argument("--headers", type=int, default=25, help="headers that are listed; 0: none")
    given = parser.parse_args()
    folder, start = given.build.resolve(), time.monotonic()
    made = steps(folder)
    by_target(made)
    objects = [output for *_, output in made if output.endswith(".o")]
    if given.dearest:
        by_phase(folder, objects[: given.dearest])
    if given.headers:
        by_header(folder, given.headers)
    print(f"\nmeasured in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
