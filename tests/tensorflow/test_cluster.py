# SPDX-License-Identifier: Apache-2.0
"""npu.open() in one of several processes: what it tells of them, and the ranks of hccl.manage.api afterwards."""

import json
import os
import subprocess
import sys
from pathlib import Path

import npu_device
import pytest

PACKAGES = [Path(npu_device.__file__).parents[1], Path(__file__).parents[2] / "adapters/hccl"]
SCRIPT = """
import json, warnings
import npu_device as npu
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    handle = npu.open().as_default()
alone = [str(one.message) for one in told if "trains alone" in str(one.message)]
print("SAW", json.dumps([handle.workers_num, handle.worker_id, handle.is_cluster_worker(), len(alone)]), flush=True)
"""
RANKS = """
from hccl.manage.api import get_rank_id, get_rank_size
print("RANK", get_rank_id(), "of", get_rank_size(), flush=True)
"""


def table(folder, devices):
    path = folder / "rank_table.json"
    members = [{"device_id": str(d), "device_ip": f"192.0.2.{d + 1}", "rank_id": str(i)} for i, d in enumerate(devices)]
    server = {"server_id": "192.0.2.100", "device": members}
    path.write_text(json.dumps({"version": "1.0", "status": "completed", "server_count": "1", "server_list": [server]}))
    return str(path)


def start(script, **variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RANK", "CM_", "WORLD_", "ASCEND_DEVICE"))}
    paths = os.pathsep.join([*map(str, PACKAGES), kept.get("PYTHONPATH", "")])
    kept |= {"PYTHONPATH": paths, "HCCL_CONNECT_TIMEOUT": "60", "JOB_ID": f"cluster-{os.getpid()}"}
    return subprocess.Popen([sys.executable, "-c", script], env=kept | variables, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip


def saw(script=SCRIPT, **variables):
    process = start(script, **variables)
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output
    return json.loads(output.split("SAW ")[1].splitlines()[0])


def test_one_of_several_knows_it(tmp_path):
    path = table(tmp_path, [0, 1, 3])
    assert saw(RANK_TABLE_FILE=path, RANK_ID="2") == [3, 2, True, 1]
    assert saw(RANK_ID="1", RANK_SIZE="8") == [8, 1, True, 1]
    chief = {"CM_CHIEF_IP": "192.0.2.100", "CM_CHIEF_PORT": "6000", "CM_CHIEF_DEVICE": "0", "CM_WORKER_SIZE": "4"}
    assert saw(**chief) == [4, -1, True, 1], "the rank is told when the processes have met"


def test_a_process_alone_knows_it_too(tmp_path):
    assert saw() == [1, 0, False, 0]
    assert saw(RANK_TABLE_FILE=table(tmp_path, [0]), RANK_ID="0", RANK_SIZE="1") == [1, 0, False, 0]


@pytest.mark.parametrize(
    ("rank", "text"),
    [
        ("5", "the ranks are 0 to 1"),
        ("0", "RANK_SIZE is '3'; the rank table has 2 ranks"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(rank, text, tmp_path):
    process = start(SCRIPT, RANK_TABLE_FILE=table(tmp_path, [0, 1]), RANK_ID=rank, RANK_SIZE="3")
    output = process.communicate(timeout=120)[0]
    assert process.returncode != 0 and "ValueError: " in output and text in output


def test_ranks_meet_without_being_told_to(tmp_path):
    path = table(tmp_path, [0, 1])
    both = [start(SCRIPT + RANKS, RANK_TABLE_FILE=path, RANK_ID=str(i), ASCEND_DEVICE_ID=str(i)) for i in range(2)]
    outputs = [process.communicate(timeout=200)[0] for process in both]
    assert [f"RANK {i} of 2" in output for i, output in enumerate(outputs)] == [True, True], outputs
