# SPDX-License-Identifier: Apache-2.0
"""run.py [NAME…]: plants the faults of faults.toml one by one, each in a copy of the tree, compiles what it changes and
runs the test that must fail. `make mutation` runs all; --list shows them."""

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter

import overlay
from fault import LEAST, ROOT, StaleError, faults, outcome

WORK = overlay.FOLDER / "mutation"
LIMIT = 300  # seconds for a test; one that hangs tells nothing
one_test_at_a_time = threading.Lock()  # some measure time


def run_tests(tests, folder, programs):
    """Status and output of one run of `tests`, all of one program or all of pytest, in `folder`."""
    names = [test.name for test in tests]
    if tests[0].program:
        command = [programs / tests[0].program, f"--gtest_filter={':'.join(names)}"]
    else:
        command = [sys.executable, "-m", "pytest", "-q", "-rA", "--tb=line", "-p", "no:cacheprovider", *names]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "1000"}
    with one_test_at_a_time:
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, timeout=LIMIT, text=True, errors="replace",
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None, f"stopped after {LIMIT} s"
    return done.returncode, done.stdout


def check_baseline(chosen):
    """Without a fault every test passes."""
    groups = {}
    for fault in chosen:
        groups.setdefault(fault.test.program, {})[fault.test] = None
    wrong = []
    for tests in map(list, groups.values()):
        status, output = run_tests(tests, ROOT, overlay.FOLDER)
        found = {test: outcome(test, status, output) for test in tests}
        wrong += [f"{test} fails" if why is True else why for test, why in found.items() if why is not False]
        if any(found.values()):
            print(output, file=sys.stderr)
    return wrong


def plant(fault):
    """True when the fault is caught, False when it is not, else what went wrong."""
    tree = WORK / fault.name
    shutil.rmtree(tree, ignore_errors=True)
    try:
        overlay.copy_tree(tree)
        fault.plant(tree)
        overlay.link(fault.test.target, fault.file, tree)
    except (StaleError, overlay.BuildError) as error:
        return str(error)
    status, output = run_tests([fault.test], tree, tree / "build")
    found = outcome(fault.test, status, output)
    if found is not True:
        (tree / "test.log").write_text(output, encoding="utf-8")
        return found if found is False else f"{found}, see {tree / 'test.log'}"
    shutil.rmtree(tree)
    return True


def report(fault, found):
    word = {True: "caught", False: "MISSED"}.get(found, "ERROR")
    print(f"{word}  {fault.name}: {fault.what} ({fault.file}); {fault.test}", flush=True)
    if word == "ERROR":
        print(found, flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", help="faults to plant; all by default")
    parser.add_argument("--list", action="store_true", help="show the faults and end")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="faults compiled side by side")
    return parser.parse_args()


def main():
    given, known = arguments(), {fault.name: fault for fault in faults()}
    if unknown := [name for name in given.name if name not in known]:
        sys.exit(f"there is no fault {', '.join(unknown)}; --list shows them")
    chosen = [known[name] for name in given.name] or list(known.values())
    if given.list:
        for fault in chosen:
            print(f"{fault.name} ({fault.area}, {fault.file}): {fault.what}; {fault.test}")
        return
    start = time.monotonic()
    overlay.ninja("--quiet", *sorted({fault.test.target for fault in chosen}))
    if wrong := check_baseline(chosen):
        sys.exit("without any fault:\n" + "\n".join(wrong))
    caught = []
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for fault, found in zip(chosen, pool.map(plant, chosen), strict=True):
            report(fault, found)
            caught += [fault] if found is True else []
    areas = Counter(fault.area for fault in caught)
    print(", ".join(f"{areas[area]} {area}" for area in LEAST), f"in {(time.monotonic() - start) / 60:.1f} min")
    print(f"{len(caught)} of {len(chosen)} faults caught")
    sys.exit(len(caught) != len(chosen))


if __name__ == "__main__":
    main()
