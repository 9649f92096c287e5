# SPDX-License-Identifier: Apache-2.0
"""anynpu profile tells the device's time by the modules of PyTorch, and what it notes down for that moves no bit."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent / "profiled_network.py"


def anynpu(*words):
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "ANYNPU_THREADS": "1"}
    done = subprocess.run([sys.executable, "-m", "anynpu", *map(str, words)], env=variables, capture_output=True,
                          text=True, timeout=240)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """What was printed, and the folder."""
    output = tmp_path_factory.mktemp("profile")
    return anynpu("profile", "--output", output, SCRIPT), output


@pytest.fixture(scope="module")
def flame(profiled):
    page = (profiled[1] / "profile.html").read_text()
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1])["flames"][0]


def inside(frame, *names):
    for name in names:
        frame = next(one for one in frame["inside"] if one["name"] == name)
    return frame


@pytest.mark.promise("what anynpu profile notes down of modules changes no bit of a result")
def test_no_bit_moves(profiled, tmp_path):
    bits = profiled[0].splitlines()[0]
    assert re.fullmatch("[0-9a-f]{64}", bits)
    assert anynpu("run", SCRIPT).splitlines() == [bits]
    without = anynpu("profile", "--no-modules", "--output", tmp_path, SCRIPT)
    assert without.splitlines()[0] == bits and "MODULES" not in without


def test_nearly_all_time_has_a_module(profiled):
    page = profiled[0]
    known, outside, unknown = map(
        float,
        re.search(r"([\d.]+) % of the time of all streams is of modules.* ([\d.]+) % is outside .* of ([\d.]+) %", page)
        .groups(),
    )  # fmt: skip
    assert known > 60 and unknown < 1, page
    assert re.search(r"^  network\.layers\.[012]\.\S+ ", page, re.MULTILINE), page
    assert re.search(r"^  AdamW\.step ", page, re.MULTILINE), page


def test_both_passes_of_a_module_are_in_the_flame_graph(flame):
    for layer in "012":
        linear = inside(flame, "network", "layers", layer, "up")
        passes = {one["name"] for one in linear["inside"]}
        assert passes == {"forward", "gradient of up"}, linear
        assert any(one["name"] == "MatMulV2" for one in inside(linear, "gradient of up")["inside"]), linear
    assert inside(flame, "AdamW.step")["time"] > 0
    assert inside(flame, "criterion", "gradient of criterion")["time"] > 0


def test_what_is_computed_again_is_of_its_module(flame):
    """The second and third layer in each backward pass: 5 steps, of which one has two passes."""
    counts = [inside(flame, "network", "layers", i, "up", "forward", "MatMulV2")["count"] for i in "012"]
    assert counts == [5, 11, 11]


def test_steps_are_those_of_the_optimizer(profiled):
    assert "STEPS: 5, " in profiled[0]
