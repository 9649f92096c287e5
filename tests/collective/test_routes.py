# SPDX-License-Identifier: Apache-2.0
"""Two ranks train to the same result wherever torch learns who they are, and whatever starts them."""

import json
import os
import shutil
import sys

import pytest
import torch_ranks
from rank_tables import of_910b, template_1, template_2
from torch_ranks import DIGITS

SIZE = 2


def by_table(table, rank_ids, folder):
    """The vendor's variables for each process. The plug-in reads the table, too."""
    path = folder / "rank_table_2p.json"
    path.write_text(json.dumps(table), encoding="utf-8")
    common = torch_ranks.environment(JOB_ID="10086", RANK_SIZE=str(SIZE), RANK_TABLE_FILE=str(path))
    return [{**common, "RANK_ID": each, "ASCEND_DEVICE_ID": str(device)} for device, each in rank_ids]


def template_1_by_hand(script, folder):
    own = by_table(template_1([0, 1]), [(0, "0"), (1, "1")], folder)
    return [[sys.executable, *script]] * SIZE, own


def template_2_by_hand(script, folder):
    own = by_table(template_2([0, 1]), [(1, "pod-1"), (0, "pod-0")], folder)
    return [[sys.executable, *script]] * SIZE, own


def launched_with_a_table_of_the_910b(script, folder):
    path = folder / "rank_table_2p.json"
    path.write_text(json.dumps(of_910b([0, 1])), encoding="utf-8")
    command = [sys.executable, "-m", "anynpu", "launch", "--rank-table", path, "--log-dir", folder, *script]
    return [command], [torch_ranks.environment()]


def chief_by_hand(script, folder):
    """The guide's addresses, which are not this machine's."""
    common = torch_ranks.environment(CM_CHIEF_IP="192.168.1.1", CM_CHIEF_DEVICE="0", CM_WORKER_SIZE=str(SIZE))
    common |= {"CM_CHIEF_PORT": str(torch_ranks.free_port()), "CM_WORKER_IP": "192.168.1.1"}
    return [[sys.executable, *script]] * SIZE, [{**common, "ASCEND_DEVICE_ID": str(d)} for d in (1, 0)]


def torchrun(script, folder):
    own = torch_ranks.environment()
    where = ["--master-addr", "127.0.0.1", "--master-port", own["MASTER_PORT"]]
    return [[sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", SIZE, *where, *script]], [own]


def spawn(script, folder):
    program, reference, *ways = script
    return [[sys.executable, program, reference, "spawn", SIZE, *ways]], [torch_ranks.environment()]


LOOP = """
RANK_ID_START=0
WORLD_SIZE=2
for((RANK_ID=$RANK_ID_START;RANK_ID<$((WORLD_SIZE+RANK_ID_START));RANK_ID++));
do
    echo "Device ID: $RANK_ID"
    export LOCAL_RANK=$RANK_ID
    taskset -c {cores} "$@" &
done
wait
"""


def shell_loop(script, folder):
    """The PyTorch guide's loop with the taskset of the training camp, and the & that the guide's print lacks."""
    cores = sorted(os.sched_getaffinity(0))
    loop = LOOP.replace("{cores}", "0-24" if cores[0] <= 24 else ",".join(map(str, cores)))
    environment = torch_ranks.environment(ASCEND_RT_VISIBLE_DEVICES="0,1")
    return [["bash", "-c", loop, "loop", sys.executable, *script]], [environment]


def mpirun(script, folder):
    own = torch_ranks.environment()
    return [["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", SIZE, sys.executable, *script]], [own]


needs_mpi = pytest.mark.skipif(shutil.which("mpirun") is None, reason="OpenMPI is not among our packages")
ROUTES = [
    template_1_by_hand,
    template_2_by_hand,
    launched_with_a_table_of_the_910b,
    chief_by_hand,
    torchrun,
    spawn,
    shell_loop,
    pytest.param(mpirun, marks=needs_mpi),
]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return torch_ranks.reference(tmp_path_factory.mktemp("digits"))


@pytest.mark.promise(
    "two ranks train alike by rank tables, CM_*, `anynpu launch`, torchrun, mp.spawn and shell loops with taskset"
)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.__name__)
def test_two_ranks_train_to_the_same_result(route, reference, tmp_path):
    text = "".join(torch_ranks.started(*route([DIGITS, reference, "ddp"], tmp_path)))
    # `anynpu launch` shows lines of its ranks once more, as their progress; what they wrote is in their logs.
    logs = sorted(tmp_path.glob("rank_?.log"))
    text = "".join(log.read_text(encoding="utf-8") for log in logs) or text
    found = torch_ranks.worst(text)["ddp", "cnn"]
    print(f"{route.__name__}: {max(found)}")
    torch_ranks.check(found, SIZE)
    if "table" in route.__name__ or "template" in route.__name__:
        assert "using the RANK_TABLE_FILE method" in text  # the plug-in went by the table
