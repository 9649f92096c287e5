# SPDX-License-Identifier: Apache-2.0
"""What is told, and what counts as checked."""

import json

import numpy as np
import pytest

from anynpu.command import main
from anynpu.self_check.compare_test import task_of
from anynpu.self_check.watch import Watch

SAID = "anynpu run --self-check: "


@pytest.fixture
def saved():
    return []


@pytest.fixture
def told():
    return []


@pytest.fixture
def watch(tmp_path, saved, told, monkeypatch):
    monkeypatch.setattr("anynpu.self_check.watch.distinct", lambda begun_by: "")
    return Watch(0, tmp_path, lambda *case: saved.append(case), lambda text: told.append(text.removeprefix(SAID)))


def addition(result, node="sum", **others):
    x = np.array([1.0, 2.0])
    task = task_of("add", {"self": x, "other": x}, np.array(result))
    about = {"node": node, "graph": "", "step": 0, "origins": [], "within": False, "operator": True, "skipped": False}
    task.text |= about | {"type": "aclnnAdd"} | others
    return task


def test_what_is_right_is_counted_and_not_told(watch, told, saved):
    watch.look(addition([2.0, 4.0]))
    assert not told and not saved
    watch.conclude()
    assert told == ["1 of 1 task checked (100.0 %), 0 kinds of operators deviated\n"]


def test_what_deviates_is_told_with_element_values_and_case(watch, told, saved, tmp_path):
    watch.look(addition([2.0, 4.5]))
    (line,) = told
    assert line.startswith("aclnnAdd node 'sum' [add] deviates: float32[2], 1 of 2 elements, worst ")
    assert " ULP at [1]: 4.5, should be 4.0, at " in line
    assert line.endswith(f"again with: anynpu dump replay {tmp_path / '001_aclnnAdd'}\n")
    (_, folder, text) = saved[0]
    assert folder == tmp_path / "001_aclnnAdd" and json.loads(text)["should_be"] == 4.0


def test_a_node_of_a_graph_is_told_with_its_step_and_what_it_was_made_of(watch, told):
    watch.look(addition([2.0, 4.5], graph="train", step=3, origins=["mul", "add"]))
    assert "aclnnAdd node 'sum' (mul, add) in step 3 [add] deviates" in told[0]


def test_of_a_kind_it_is_told_once(watch, told):
    for _ in range(3):
        watch.look(addition([2.0, 4.5]))
    assert len(told) == 1
    watch.look(addition([2.0, 4.5], type="aclnnInplaceAdd"))
    assert "/002_aclnnInplaceAdd" in told[1]
    watch.conclude()
    assert told[2] == "4 of 4 tasks checked (100.0 %), 2 kinds of operators deviated\n"


def test_what_was_not_checked_is_told_with_the_reason_and_does_not_count(watch, told):
    watch.look(addition([2.0, 4.0]))
    task = addition([2.0, 4.0])
    task.text["calls"][0]["op"] = "fft"
    watch.look(task)
    watch.look(addition([2.0, 4.0], skipped=True))
    watch.conclude()
    assert told == [
        "1 of 2 tasks checked (50.0 %), 0 kinds of operators deviated\n",
        "1 task left out by --self-check-sample\n",
        "not checked: fft, 1 run: there is no reference for fft\n",
    ]


def test_a_node_is_checked_when_all_that_it_runs_is(watch, told):
    node = {"operator": False, "type": "Dense", "calls": []}
    unknown = addition([2.0, 4.0], within=True)
    unknown.text["calls"][0]["op"] = "fft"
    for inside in ([addition([2.0, 4.0], within=True)], [addition([2.0, 4.0], within=True), unknown], []):
        for task in inside:
            watch.look(task)
        watch.look(addition([2.0, 4.0], **node))
    watch.conclude()
    assert told[0].startswith("1 of 3 tasks checked (33.3 %)")
    assert {line.strip() for line in told[1:]} == {
        "not checked: Dense, 1 run: there is no reference for fft",
        "not checked: Dense, 1 run: runs no operator of ours",
    }


def test_a_fault_of_the_check_is_told_and_is_no_fault_of_the_script(watch, told):
    task = addition([2.0, 4.0])
    task.text["tensors"][0]["shape"] = [3]
    watch.look(task)
    watch.conclude()
    assert told[0].startswith("0 of 1 task checked") and "the check failed: ValueError" in told[1]


def test_a_variable_holds_what_was_assigned(watch, told):
    for bits in ([2.0, 4.0], [2.0, 4.5]):
        task = addition([2.0, 4.0], operator=False, type="AssignVariableOp")
        task.blobs = [np.array(one, "f4").tobytes() for one in ([2.0, 4.0], bits)]
        task.text["assigned"] = [0, 1]
        watch.look(task)
    watch.conclude()
    assert told[1] == "not checked: AssignVariableOp, 1 run: the variable does not hold what was assigned\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["run", "--self-check", "--self-check-sample", "0", __file__],
            "--self-check-sample is 0; give a whole number",
        ),
        (["run", "--self-check", "--self-check-sample", "-2", __file__], "--self-check-sample is -2; give a whole"),
        (["run", "--self-check=fp32", __file__], "invalid choice: 'fp32'"),
        (["run", "--self-check", "--repeat", "2", __file__], "--repeat, --self-check exclude each other"),
        (["dump", "replay"], "anynpu dump replay takes one folder"),
        (["dump", "replay", "/nowhere/case"], "/nowhere/case/task.json"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments, text, capsys):
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = ended.code
    assert code and text in capsys.readouterr().err
