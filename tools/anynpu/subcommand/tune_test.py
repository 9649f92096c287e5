# SPDX-License-Identifier: Apache-2.0
"""`anynpu tune`: the runs it makes, and what it says of banks."""

import json

import pytest

from anynpu.command_test import anynpu
from anynpu.library import door

SCRIPT = """
import os, sys
print("mode", os.environ["AOE_MODE"], sys.argv[1:])
raise SystemExit(int(sys.argv[1]))
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


def bank(path, way, **changed):
    entry = {
        "point": "conv_way", "key": "forward n=1", "way": way, "usual": "pointwise", "won": True, "usual_us": 120.5,
        "way_us": 100.25, "ratio": 1.2, "low": 1.15, "high": 1.25, "noise": 0.01, "pairs": 11, "threads": 2,
        "time": "2026-11-26T10:00:00Z", "product": door.version(), "note": "Conv2D first",
    }  # fmt: skip
    own = door.bank_file(2).split("/")
    head = {"format": "AnyNPU tuning bank", "version": 1, "job": "op", "soc": own[-2], "cpu": own[-1][: -len(".json")]}
    path.write_text(json.dumps({**head, **changed, "entries": [entry]}))
    return str(path)


def test_each_job_has_a_run_of_its_own(script):
    code, out, err = anynpu("tune", str(script), "0", "--epochs")
    assert code == 0, err
    runs = [line for line in out.splitlines() if not line.startswith("anynpu")]
    assert runs == ["mode 2 ['0', '--epochs']", "mode 1 ['0', '--epochs']"]


def test_a_run_that_fails_is_the_last(script):
    code, out, _ = anynpu("tune", "--job", "both", str(script), "3")
    assert code == 3 and out.count("mode") == 1
    code, out, _ = anynpu("tune", "--job", "graphs", str(script), "0")
    assert code == 0 and "mode 1" in out and "mode 2" not in out


def test_a_script_that_is_not_there_is_named():
    code, _, err = anynpu("tune", "no_such.py")
    assert code == 1 and "there is no file no_such.py" in err


def test_banks_and_choices_are_told():
    code, out, _ = anynpu("tune", "bank")
    assert code == 0
    assert out.splitlines()[0].startswith("operators: ") and "custom/op/" in out and "custom/graph/" in out
    assert "conv_way: " in out and "fused_node: " in out and "whole, parts" in out


def test_a_bank_is_listed(tmp_path):
    code, out, _ = anynpu("tune", "bank", "list", bank(tmp_path / "a.json", "tiled"))
    assert code == 0
    assert "1 entries, 1 of which are used" in out
    row = out.splitlines()[-1]
    assert all(word in row for word in ("conv_way", "tiled", "120.5", "100.2", "1.20", "Conv2D first", "forward n=1"))


def test_a_bank_is_verified(tmp_path):
    assert anynpu("tune", "bank", "verify", bank(tmp_path / "a.json", "tiled"))[:2] == (0, "nothing wrong\n")
    code, out, _ = anynpu("tune", "bank", "verify", bank(tmp_path / "b.json", "nowhere", cpu="another"))
    assert code == 1 and "it is of CPU another" in out and "has no way nowhere" in out
    (tmp_path / "c.json").write_text("{")
    code, _, err = anynpu("tune", "bank", "verify", str(tmp_path / "c.json"))
    assert code == 1 and "is no bank of tuned choices" in err


def test_banks_are_merged_and_compared(tmp_path):
    a, b = bank(tmp_path / "a.json", "tiled"), bank(tmp_path / "b.json", "unfolded")
    into = str(tmp_path / "all.json")
    assert anynpu("tune", "bank", "merge", into, a)[1] == f"{a}: 1 entries went into {into}\n"
    assert anynpu("tune", "bank", "diff", a, into)[:2] == (0, "both answer alike\n")
    code, out, _ = anynpu("tune", "bank", "diff", a, b)
    assert code == 1 and out == "conv_way for forward n=1: tiled (1.20x) | unfolded (1.20x)\n"
    code, _, err = anynpu("tune", "bank", "merge", into, bank(tmp_path / "c.json", "tiled", cpu="another"))
    assert code == 1 and "does not go into" in err


@pytest.mark.parametrize("words", [["diff", "a"], ["merge", "a"], ["other"]])
def test_words_of_bank_that_are_wrong_are_told(words):
    code, _, err = anynpu("tune", "bank", *words)
    assert code == 1 and "merge INTO FROM…" in err
