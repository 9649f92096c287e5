# SPDX-License-Identifier: Apache-2.0
"""Beginnings and ends: processes that exit or fork, handles that are stale, groups that fail, older clients."""

import re
import time

import pytest
from hccl_c import outputs, start

pytestmark = pytest.mark.alone


def test_a_process_that_exits_in_a_collective_ends_and_is_heard(tmp_path):
    processes = start("life.py", tmp_path, 2, "exits_in_a_collective")
    (code, text), *_ = outputs(processes[1:], seconds=60)
    ended = time.monotonic()
    seconds = ended - float(re.search(r"ENDING ([\d.]+)", text)[1])
    print(f"ended {seconds:.2f} s after sys.exit")
    assert code == 0 and seconds < 4, text
    (code, text), *_ = outputs(processes[:1], seconds=60)
    heard = re.search(r"HEARD after ([\d.]+) s: (.*)", text)
    assert heard and float(heard[1]) < 2, text
    assert "rank 1 (host" in heard[2] and "exits while 1 of its calls wait for other ranks" in heard[2], text
    assert code == 0


@pytest.mark.parametrize(
    ("what", "size"),
    [
        ("exits_with_calls_that_run", 2),
        ("stale_handles", 2),
        ("group_with_a_wrong_call", 2),
        ("group_over_a_destroyed", 1),
        ("small_config", 1),
        ("mappings", 2),
        ("outlives", 1),
    ],
)
def test_life(what, size, tmp_path):
    for code, text in outputs(start("life.py", tmp_path, size, what), seconds=60):
        assert code == 0, text[-3000:]


def test_a_forked_child_is_refused_and_leaves_its_parent_alone(tmp_path):
    for code, text in outputs(start("life.py", tmp_path, 2, "forks"), seconds=60):
        assert code == 0, text[-3000:]
        assert re.search(r"CHILD .*was forked", text), text


def test_nobody_waits_for_ranks_that_never_come(tmp_path):
    begin = time.monotonic()
    [(code, text)] = outputs(start("life.py", tmp_path, 1, "root_alone"), seconds=60)
    assert code == 0 and time.monotonic() - begin < 20, text


NO_LOG = {"ASCEND_GLOBAL_LOG_LEVEL": "4"}  # its file, which the first failed call opens, stays open


def test_failed_joins_leave_no_descriptors(tmp_path):
    [(code, text)] = outputs(start("life.py", tmp_path, 1, "descriptors", environment=NO_LOG), seconds=60)
    assert code == 0 and int(re.search(r"DESCRIPTORS (-?\d+)", text)[1]) <= 0, text


def test_a_communicator_without_descriptors_keeps_none(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    [(code, text)] = outputs(
        start("life.py", tmp_path, 1, "few_descriptors", environment={"XDG_RUNTIME_DIR": str(folder)} | NO_LOG),
        seconds=60,
    )
    assert code == 0, text
