# SPDX-License-Identifier: Apache-2.0
import os
from types import SimpleNamespace

import pytest

from anynpu.nan_check import watch

LOG = SimpleNamespace(text="aclnnLog made 1 NaN of finite inputs: output out float32[3]")
ROOT = SimpleNamespace(text="aclnnDiv made 1 infinity of finite inputs: output out float32[3]")


@pytest.fixture
def told(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    lines, ends, node = [], [], [""]
    monkeypatch.setattr(watch, "node_of_autograd", lambda: node[0])
    monkeypatch.setattr(watch.line, "current", lambda backward: "train.py:9" if backward else "train.py:7")
    one = watch.Watch(os.getpid(), lambda: ends.append(len(lines)), lines.append)
    return SimpleNamespace(watch=one, lines=lines, ends=ends, node=node)


def test_the_first_in_forward_is_told_with_its_line_and_ends_it(told):
    told.watch(LOG)
    told.watch(ROOT)
    told.watch.conclude()
    assert told.lines == [f"anynpu run --nan-check: {LOG.text}, at train.py:7\n"] and told.ends == [1]


def test_one_in_backward_is_told_as_such_and_does_not_end_it(told):
    told.node[0] = "SqrtBackward0"
    told.watch(ROOT)
    told.watch(ROOT)
    assert told.lines == [f"anynpu run --nan-check: {ROOT.text}, at train.py:9, in backward (SqrtBackward0)\n"]
    told.node[0] = ""
    told.watch(LOG)
    assert len(told.lines) == 2 and told.ends == [2]


def test_backward_behind_a_forward_is_a_consequence(told):
    told.watch(LOG)
    told.node[0] = "LogBackward0"
    told.watch(ROOT)
    assert len(told.lines) == 1


def test_where_there_was_none_it_is_said(told, monkeypatch):
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "4")
    told.watch.conclude()
    assert told.lines == ["anynpu run --nan-check (rank3): no operator made an infinity or NaN of finite inputs\n"]
