# SPDX-License-Identifier: Apache-2.0
"""The search with scripts that are functions of what is switched off."""

from pathlib import Path

import pytest

from anynpu.bisect.search import Search
from anynpu.bisect.switches import Fusion, Precision
from anynpu.bisect.trial import Stopped

PASSES = ["attention", "layer_norm", "elementwise", "matmul_epilogue"]
COMPILED = [{"fusions": [{"pass": name, "effective": 1} for name in PASSES] + [{"pass": "recompute", "effective": 0}]}]


class Planted:
    def __init__(self, loss, functions=COMPILED):
        self.loss, self.functions, self.runs = loss, functions, 0

    def run(self, **variables):
        self.runs += 1
        named = variables.get("ANYNPU_FUSION_OFF", "").split(",")
        return (self.loss(set(PASSES) if named == ["ALL"] else set(named)),)

    def reported(self):
        return self.run(), self.functions


@pytest.fixture
def searched(tmp_path):
    def search(loss, functions=COMPILED, **options):
        told = []
        script = Planted(loss, functions)
        return Search("fusion", script, Fusion(tmp_path), say=told.append, **options).run(), told

    return search


def test_the_one_that_moves_the_loss_is_found(searched):
    names, told = searched(lambda off: 1.0 if "layer_norm" in off else 1.5)
    assert names == ["layer_norm"]
    assert "the loss is 1.5 with and 1.0 without" in told
    assert told[-1].endswith("    layer_norm:off")


def test_two_that_only_help_together(searched):
    names, _ = searched(lambda off: 1.0 if {"attention", "matmul_epilogue"} <= off else 1.5)
    assert names == ["attention", "matmul_epilogue"]


def test_what_moves_it_a_little_is_not_blamed(searched):
    def loss(off):
        return (1.0 if "layer_norm" in off else 1.5) + (0 if "elementwise" in off else 0.001)

    assert searched(loss)[0] == ["layer_norm"]
    assert searched(loss, tolerance=1e-4)[0] == ["layer_norm", "elementwise"]


def test_a_loss_that_is_no_number_comes_back(searched):
    assert searched(lambda off: 1.0 if "attention" in off else float("nan"))[0] == ["attention"]


def test_innocent_where_nothing_moves(searched):
    names, told = searched(lambda off: 1.5)
    assert names == [] and told[-1] == "fusion is innocent: the loss does not move (by 0, relative)"
    assert searched(lambda off: 1.5, [{"fusions": []}])[1][-1].startswith("fusion is innocent: no fusion pass did")
    assert searched(lambda off: 1.5, [])[1][-1].startswith("fusion is innocent: no function was compiled")


def test_innocent_where_the_golden_is_as_far_without_it(searched):
    names, told = searched(lambda off: 1.001 if "attention" in off else 1.0, golden=(2.0,))
    assert names == [] and told[-1] == "fusion is innocent: the loss does not come nearer to the golden one"
    assert searched(lambda off: 1.9 if "attention" in off else 1.0, golden=(2.0,))[0] == ["attention"]


def test_what_is_random_is_told_and_not_searched(searched):
    drawn = iter(range(10))
    with pytest.raises(Stopped, match="run again, the same script gives 1: what is random must go first"):
        searched(lambda off: next(drawn))


def test_nodes_are_those_that_compute_otherwise(tmp_path):
    node = {"node": "a", "source": "float32", "dtype": "float16", "inputs": [], "outputs": []}
    rounded = node | {"node": "b", "dtype": "float32", "inputs": ["float16"]}
    same = node | {"node": "c", "dtype": "float32"}
    switches = Precision(tmp_path)
    assert switches.candidates([{"precision": [node, rounded, same]}, {"precision": [node]}, {}]) == ["a", "b"]
    (path,) = switches.off(["a", "b"]).values()
    assert Path(path).read_text() == "a\nb\n"
