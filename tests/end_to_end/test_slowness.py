# SPDX-License-Identifier: Apache-2.0
"""anynpu profile finds what makes a run slow: scripts that are slow for one planted reason each."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PLANTED = {
    ("of_torch.py", "loader"): "the device waits for data",
    ("of_torch.py", "item"): "the host waits for results",
    ("of_torch.py", "fallback"): "data is copied to the host, computed with there",
    ("of_torch.py", "tiny"): "many small operators",
    ("of_torch.py", "chain"): "a chain of 9 elementwise operators is not fused",
    ("of_torch.py", "straggler"): "other ranks wait for NPU 1",
    ("of_tensorflow.py", "recompile"): "a function is traced and compiled anew",
    ("of_tensorflow.py", "shapes"): "a function is compiled anew again and again, for other shapes",
    ("of_tensorflow.py", "data"): "the device waits for data: a graph asks its data set",
    ("of_tensorflow.py", "fallback"): "a graph computes operators on the host",
}
# What the page has to name beside.
NAMED = {
    ("of_tensorflow.py", "recompile"): ["39 × step", "ms of the host", "traced anew"],
    ("of_tensorflow.py", "shapes"): ["39 × any_rows", "argument x was float32", "other shapes"],
    ("of_tensorflow.py", "data"): ["IteratorGetNext", "consume"],
    ("of_tensorflow.py", "fallback"): ["AsString", "StringToNumber", "there is no kernel of it"],
}


def profile(output, script, name):
    """What the page says, after what the script printed."""
    ranks = ["-n", "2"] if name == "straggler" else []
    words = ["profile", "--output", str(output), *ranks, str(HERE / "planted_slowness" / script), name]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "ANYNPU_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-m", "anynpu", *words], env=variables, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (output / "profile.html").read_text().startswith("<!DOCTYPE html>")
    return done.stdout[done.stdout.index("FINDINGS") :]


@pytest.mark.promise("anynpu profile names first what makes a run slow, and what that costs")
@pytest.mark.parametrize(("script", "name"), PLANTED)
def test_what_was_planted_is_the_first_finding(script, name, tmp_path):
    if script == "of_tensorflow.py":
        pytest.importorskip("npu_device")
    for attempt in range(3):  # on a machine that is busy with other things these may cost more
        page = profile(tmp_path / str(attempt), script, name)
        title, share = re.search(r"^ +1\. (.*)\n +cost +[\d.]+ ms, ([\d.]+) %", page, re.MULTILINE).groups()
        if title != "operators that are queued begin late":
            break
    assert title.startswith(PLANTED[script, name]), page
    assert float(share) > 15, page
    assert all(part in page for part in NAMED.get((script, name), [])), page


def test_a_finding_names_the_module_that_it_is_in(tmp_path):
    page = profile(tmp_path, "of_torch.py", "layer")
    where = re.search(r"^ +\d\. many small .*\n.*\n +where +(.*)", page, re.MULTILINE)[1]
    share = re.search(r"; mostly in model\.layers\.3 \((\d+) %\)", where)
    assert share and int(share[1]) > 75, page


def test_a_run_without_a_fault_is_busy(tmp_path):
    """Half of the time: what else the machine does takes the device's threads off their cores."""
    page = profile(tmp_path, "of_torch.py", "nothing")
    assert float(re.search(r"^  computes +[\d.]+ ms +([\d.]+) %", page, re.MULTILINE)[1]) > 50, page
    assert all(float(share) < 50 for share in re.findall(r"cost +[\d.]+ ms, ([\d.]+) %", page)), page
