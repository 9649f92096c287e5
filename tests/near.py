# SPDX-License-Identifier: Apache-2.0
"""Runs the tests that a change is most likely to break: `make check FILES="ops/norm/group_norm.cpp"`, or
`python tests/near.py [--list] [--minutes 3] [FILE…]`. Without FILES: what git calls changed.

Nearest first: the tests beside a file, then those of the files that include or import it, the test of each planted
fault in it (tests/mutation/faults.toml), the conformance cases of the aclnn functions that its operators serve, and the
rules of the house. It builds only the test programs of these. Tests that have not begun after `--minutes` are left out,
and counted. `make test` is what proves a change; this is what an editor's loop has time for.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS / "house"), str(TESTS / "mutation"), str(TESTS.parent / "acl/generate")]
import fault  # noqa: E402
import source  # noqa: E402
import structure  # noqa: E402
import table  # noqa: E402

ROOT = source.ROOT
SUITE = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),", re.MULTILINE)
PROGRAMS = {"tools/compare": "compare", "tools/migrate": "migrate", "tools/profile": "profile", "tools/atc": "atc"}
PROGRAMS |= {"adapters/tensorflow": "tensorflow"}
FARTHEST = 2  # a test that includes the file through more headers than this is not near


def changed():
    said = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [Path(line[3:].split(" -> ")[-1].strip('"')) for line in said.stdout.splitlines() if line[0] != "D"]


def program_of(path):
    """The test program that a C++ test file is part of."""
    for folder, name in PROGRAMS.items():
        if path.is_relative_to(folder):
            return f"{name}_test"
    return f"{path.parts[0]}_test"


@cache
def users():
    """{file: files that include or import it}, tests too."""
    found = defaultdict(set)
    for path in source.with_suffix(".h", ".cpp"):
        for header in structure.included(path):
            found[header].add(path)
    for path in source.with_suffix(".py"):
        for module in structure.imported(path):
            found[module].add(path)
    return found


def near(path):
    """{file: steps from `path`}: its own noun 0, who includes that 1, and so on."""
    by_user = users()
    found = {path: 0, path.with_suffix(".h"): 0, path.with_suffix(".cpp"): 0}
    edge = list(found)
    for step in range(1, FARTHEST + 1):
        edge = [user for one in edge for user in by_user.get(one, ()) if user not in found]
        found |= dict.fromkeys(edge, step)
    return found


def is_python_test(path):
    return path.suffix == ".py" and (path.name.startswith("test_") or path.name.endswith("_test.py"))


def tests_around(path):
    """Test files by their distance: beside the file, then by steps."""
    distance = near(path)
    for other in source.files():
        stem = other.stem.removesuffix("_test").removeprefix("test_")
        if other.parent == path.parent and stem in (path.stem, path.parent.name):
            distance.setdefault(other, 0)
    found = [(step, one) for one, step in distance.items() if one.name.endswith("_test.cpp") or is_python_test(one)]
    return [one for _, one in sorted(found)]


def functions_of(path):
    """aclnn functions whose row names an operator that `path` declares."""
    operators = set(source.operators(path)) if path.suffix == ".cpp" else set()
    families = table.read_rows(ROOT / "acl/aclnn/functions", {}) if operators else {}
    return [row.name for rows in families.values() for row in rows if row.operator.split(":")[-1] in operators]


class Choice:
    """What to run: gtest filters by program, pytest names by folder, in the order of nearness."""

    def __init__(self):
        self.suites, self.python = defaultdict(dict), defaultdict(dict)

    def add_file(self, path):
        if path.suffix == ".py":
            return self.add_python(str(path))
        for suite in SUITE.findall(source.text(path)):
            self.suites[program_of(path)][f"{suite}.*:*/{suite}.*:{suite}/*"] = None

    def add_python(self, name):
        self.python["/".join(Path(name.split("::")[0]).parts[:2])][name] = None

    def add_fault(self, test):
        if test.program:
            self.suites[test.program][test.name] = None
        else:
            self.add_python(test.name)


def choose(paths):
    choice = Choice()
    for path in paths:
        for test in tests_around(path):
            choice.add_file(test)
        for one in fault.faults():
            if one.file == str(path):
                choice.add_fault(one.test)
        for name in functions_of(path):
            choice.add_python(f"tests/conformance/test_conformance.py::test_function[{name}]")
    choice.add_python("tests/house")
    return choice


def run(choice, until):
    """Whether all passed. Programs first: what they show is nearest to the sources."""
    passed, late = True, []
    needed = [*choice.suites, "anynpu_wheel"] if set(choice.python) - {"tests/house"} else list(choice.suites)
    if needed:
        subprocess.run(["ninja", "-C", "build", "--quiet", *needed], cwd=ROOT, check=True)
    for program, suites in choice.suites.items():
        if time.time() > until:
            late.append(program)
            continue
        command = [ROOT / "build" / program, f"--gtest_filter={':'.join(suites)}", "--gtest_brief=1"]
        passed &= subprocess.run(command, cwd=ROOT).returncode == 0
    for names in choice.python.values():
        environment = os.environ | {"ANYNPU_TESTS_UNTIL": str(until)}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *names]
        passed &= subprocess.run(command, cwd=ROOT, env=environment).returncode in (0, 5)
    if late:
        print(f"left out, since the time was over: {' '.join(late)}")
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--list", action="store_true", help="print what would run, and end")
    parser.add_argument("--minutes", type=float, default=3)
    given, start = parser.parse_args(), time.time()
    paths = [path.resolve().relative_to(ROOT) for path in given.files] or changed()
    if missing := [str(path) for path in paths if not (ROOT / path).is_file()]:
        sys.exit(f"check: there is no {', '.join(missing)}; name files of this checkout, or none for all that changed")
    choice = choose(paths)
    if given.list:
        for program, suites in choice.suites.items():
            print(program, *suites)
        print(*(name for names in choice.python.values() for name in names), sep="\n")
        return
    passed = run(choice, start + 60 * given.minutes)
    print(f"check: {'passed' if passed else 'FAILED'} in {time.time() - start:.0f} s; `make test` runs everything")
    sys.exit(not passed)


if __name__ == "__main__":
    main()
