# SPDX-License-Identifier: Apache-2.0
import json
import os

from anynpu.fallback import report
from anynpu.fallback.count import Counts, Operator


def counted():
    counts = Counts()
    for op, backward, size in [
        ("aten::a", "", 10),
        ("aten::b", "", 3000),
        ("aten::a", "ABackward0", 1),
        ("aten::b", "", 72),
    ]:
        counts.add(op, bool(backward), size, lambda op=op, backward=backward: Operator(op, "", "train.py:3", backward))
    return counts


def test_forward_and_backward_are_counted_apart_and_what_moved_most_is_first():
    rows = [(one["op"], one["backward"], one["runs"], one["bytes"]) for one in counted().listed()]
    assert rows == [("aten::b", "", 2, 3072), ("aten::a", "", 1, 10), ("aten::a", "ABackward0", 1, 1)]


def test_a_forked_child_counts_anew():
    counts = counted()
    counts.clear()
    assert counts.listed() == []


def test_text():
    told = report.text(counted().listed(), "").splitlines()
    assert told[:3] == [
        "PyTorch on the NPU: 3 operators on the host",
        "    on the host: aten::b, 2 runs, 3.0 KiB in and out: torch-npu has no kernel for it",
        "      first called at train.py:3",
    ]
    assert told[6].endswith("train.py:3, in backward (ABackward0)") and told[-1].strip() == report.UNSEEN
    assert report.text([], " (rank1)") == "PyTorch on the NPU (rank1): no operator ran on the host\n"


def test_a_line_that_is_not_known_is_said_so():
    row = {**counted().listed()[0], "line": None}
    assert "first called at a line that is not known" in report.text([row], "")


def test_ranks_and_children_write_files_of_their_own(tmp_path, monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    assert report.distinct(os.getpid()) == ""
    assert report.distinct(os.getpid() + 1) == f"process{os.getpid()}"
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert report.distinct(os.getpid()) == ""
    monkeypatch.setenv("WORLD_SIZE", "4")
    report.write(str(tmp_path / "out.json"), counted().listed(), os.getpid())
    assert len(json.loads((tmp_path / "out.rank3.json").read_text())["operators"]) == 3


def test_where_no_file_can_be_the_report_follows_on_stderr(tmp_path, capsys):
    report.write(str(tmp_path / "nowhere/out.txt"), [], os.getpid())
    assert capsys.readouterr().err.endswith("it follows\nPyTorch on the NPU: no operator ran on the host\n")
