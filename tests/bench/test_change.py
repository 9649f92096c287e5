# SPDX-License-Identifier: Apache-2.0
import json
import subprocess
import sys

import change


def run(threads=2, **ratios):
    cases = [{"name": name, "ratio": list(ratio)} for name, ratio in ratios.items()]
    return {"cpu": {"class": "Zen 5", "threads": threads}, "cases": cases}


OLD = run(same=(0.9, 1.0, 1.1), slow=(0.9, 1.0, 1.1), fast=(0.9, 1.0, 1.1), gone=(1, 1, 1))
NEW = run(same=(0.8, 0.9, 1.0), slow=(0.7, 0.8, 0.89), fast=(1.9, 2.0, 2.1), added=(1, 1, 1))


def test_the_worst_stands_first():
    lines, _ = change.report(OLD, NEW)
    assert [line.split()[0] for line in lines] == ["slow", "same", "fast", "gone", "added"]
    assert "-20.0 %  slower" in lines[0] and "[0.90, 1.10]" in lines[0] and "[0.70, 0.89]" in lines[0]


def test_slower_is_what_lies_beyond_both_quartiles():
    lines, worse = change.report(OLD, NEW)
    assert worse and [line.split()[0] for line in lines if line.endswith("slower")] == ["slow"]
    assert change.slower((0.9, 1, 1.1), (0.7, 0.8, 0.9)) is False  # they meet
    assert not change.report(OLD, OLD)[1]


def test_runs_of_other_machines_are_told():
    assert change.report(OLD, run(threads=4))[0][0] == "different machines: Zen 5, 2 threads and Zen 5, 4 threads"


def test_the_command_ends_with_what_it_found(tmp_path):
    paths = [tmp_path / name for name in ("old.json", "new.json")]
    for path, found in zip(paths, (OLD, NEW), strict=True):
        path.write_text(json.dumps(found))

    def status(*words):
        return subprocess.run([sys.executable, change.__file__, *words], capture_output=True).returncode

    assert status(*paths) == 1
    assert status(paths[0], paths[0]) == 0
    assert status(paths[0]) == 1
