# SPDX-License-Identifier: Apache-2.0
"""npu.open() in one of several processes: what it tells of them, and the ranks of hccl.manage.api afterwards."""

import json
import socket

import pytest
from ranks import start, table

SCRIPT = """
import json
import npu_device as npu
handle = npu.open().as_default()
print("SAW", json.dumps([handle.workers_num, handle.worker_id, handle.is_cluster_worker()]), flush=True)
"""
RANKS = """
from hccl.manage.api import get_rank_id, get_rank_size
print("RANK", get_rank_id(), "of", get_rank_size(), flush=True)
"""


def saw(script=SCRIPT, **variables):
    process = start(script, **variables)
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output
    return json.loads(output.split("SAW ")[1].splitlines()[0])


def test_one_of_several_knows_it(tmp_path):
    path = table(tmp_path, [0, 1, 3])
    assert saw(RANK_TABLE_FILE=path, RANK_ID="2") == [3, 2, True]
    assert saw(RANK_ID="1", RANK_SIZE="8") == [8, 1, True]


def test_the_rank_is_known_when_all_have_met():
    """With CM_* it is."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    chief = {"CM_CHIEF_IP": "127.0.0.1", "CM_CHIEF_PORT": port, "CM_CHIEF_DEVICE": "0", "CM_WORKER_IP": "127.0.0.1"}
    both = [start(SCRIPT, **chief, CM_WORKER_SIZE="2", ASCEND_DEVICE_ID=str(i)) for i in range(2)]
    outputs = [process.communicate(timeout=200)[0] for process in both]
    assert all("SAW [2, " in output for output in outputs), outputs
    assert sorted(json.loads(output.split("SAW ")[1].splitlines()[0])[1] for output in outputs) == [0, 1]


def test_a_process_alone_knows_it_too(tmp_path):
    assert saw() == [1, 0, False]
    assert saw(RANK_TABLE_FILE=table(tmp_path, [0]), RANK_ID="0", RANK_SIZE="1") == [1, 0, False]
    assert saw(RANK_TABLE_FILE=table(tmp_path, [0, 1]), RANK_ID="0", RANK_SIZE="1") == [1, 0, False], "the guide's note"


@pytest.mark.parametrize(
    ("rank", "size", "text"),
    [
        ("5", "2", "the ranks are 0 to 1"),
        ("1", "1", "the ranks are 0 to 0"),
        ("0", "3", "RANK_SIZE is 3, but the rank table"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(rank, size, text, tmp_path):
    process = start(SCRIPT, RANK_TABLE_FILE=table(tmp_path, [0, 1]), RANK_ID=rank, RANK_SIZE=size)
    output = process.communicate(timeout=120)[0]
    assert process.returncode != 0 and "ValueError: " in output and text in output


def test_ranks_meet_without_being_told_to(tmp_path):
    path = table(tmp_path, [0, 1])
    both = [start(SCRIPT + RANKS, RANK_TABLE_FILE=path, RANK_ID=str(i), ASCEND_DEVICE_ID=str(i)) for i in range(2)]
    outputs = [process.communicate(timeout=200)[0] for process in both]
    assert [f"RANK {i} of 2" in output for i, output in enumerate(outputs)] == [True, True], outputs
