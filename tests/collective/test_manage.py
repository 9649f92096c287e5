# SPDX-License-Identifier: Apache-2.0
"""hccl.manage.api, and where ranks come from: rank tables of both templates, CM_*, launchers."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hccl_c import LIBRARIES, outputs
from rank_tables import template_1, template_2

HERE = Path(__file__).parent
ADAPTER = HERE.parents[1] / "adapters/hccl"
SIZE = 3


def by_table(table, rank_ids):
    def environments(folder):
        path = folder / "rank_table.json"
        path.write_text(json.dumps(table), encoding="utf-8")
        for device, rank_id in rank_ids:
            yield {"RANK_TABLE_FILE": str(path), "RANK_ID": rank_id, "ASCEND_DEVICE_ID": str(device)}

    return environments


def by_part_of_a_table(folder):
    """The guide's note: the table lists all devices, and a training uses RANK_SIZE of them."""
    for own in by_table(template_1([2, 0, 1, 3]), [(2, "0"), (0, "1"), (1, "2")])(folder):
        yield own | {"RANK_SIZE": str(SIZE)}


def by_chief(folder):
    """As the guide has it: its addresses are not this machine's."""
    chief = {"CM_CHIEF_IP": "192.168.1.1", "CM_CHIEF_PORT": "0", "CM_CHIEF_DEVICE": "0", "CM_WORKER_SIZE": str(SIZE)}
    chief["CM_CHIEF_PORT"] = str(20000 + os.getpid() % 4000)  # below those that the system gives out
    for device in reversed(range(SIZE)):  # they may start in any order
        yield {**chief, "CM_WORKER_IP": "192.168.1.1", "ASCEND_DEVICE_ID": str(device)}


def by_launcher(rank, size, local):
    def environments(folder):
        for number in range(SIZE):
            yield {rank: str(number), size: str(SIZE), local: str(number), "ASCEND_DEVICE_ID": str(number)}

    return environments


WAYS = {
    "template 1": by_table(template_1([2, 0, 1]), [(2, "0"), (0, "1"), (1, "2")]),
    "template 2": by_table(template_2([0, 1, 2]), [(0, "pod-0"), (1, "pod-1"), (2, "pod-2")]),
    "a part of a table": by_part_of_a_table,
    "CM_CHIEF_IP": by_chief,
    "torchrun": by_launcher("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    "mpirun": by_launcher("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    "srun": by_launcher("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
}


def run(environments, folder):
    base = {
        name: value for name, value in os.environ.items() if not name.startswith(("RANK", "CM_", "WORLD", "LOCAL_"))
    }
    base |= {"PYTHONPATH": str(ADAPTER), "HCCL_CONNECT_TIMEOUT": "30", "JOB_ID": f"test-{os.getpid()}"}
    processes = [
        subprocess.Popen(
            [sys.executable, HERE / "manage.py"],
            env={**base, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for own in environments(folder)
    ]
    return outputs(processes, seconds=90)


def saw(results):
    for code, text in results:
        assert code == 0, text[-2000:]
    return sorted((json.loads(text.split("SAW ")[1]) for _, text in results), key=lambda each: each["rank"])


@pytest.mark.promise("rank tables, CM_*, torchrun, mpirun, srun; `hccl.manage.api`")
@pytest.mark.parametrize("way", WAYS)
def test_ranks_are_what_the_environment_says(way, tmp_path):
    ranks = saw(run(WAYS[way], tmp_path))
    assert [each["rank"] for each in ranks] == list(range(SIZE))
    for each in ranks:
        assert each["size"] == SIZE
        assert each["local"] == [SIZE, each["rank"]]


def test_groups_and_refusals(tmp_path):
    ranks = saw(run(WAYS["torchrun"], tmp_path))
    assert ranks[SIZE - 1]["ends"] == [2, 0, SIZE - 1]
    assert ranks[0]["ends"] == [2, 1, SIZE - 1]
    assert ranks[0]["from_world"] == 1
    wrong = ranks[0]["wrong"]
    assert "already" in wrong["again"] and "is not in group 'ends'" in wrong["no member"]
    assert "ranks are 0 to 1" in wrong["past"] and "there is no group 'ends'" in wrong["gone"]
    for each in ranks:
        assert each["after"].startswith("get rank id error: ") and "have not been joined" in each["after"]
        refused = each["refused"]
        assert "group of all ranks" in refused["world"] and "group of all ranks" in refused["world_end"]
        assert "rank_num is 1, but rank_ids has 2" in refused["count"]
        assert "1 to 127 bytes" in refused["name"] and "1 to 127 bytes" in refused["type"]
        assert "0 to 4095" in refused["ids"]


def test_the_device_is_that_of_the_table(tmp_path):
    """A script of the guide sets RANK_ID, and the table has the devices."""
    table = tmp_path / "rank_table.json"
    table.write_text(json.dumps(template_1([3])))
    code = (
        "import ctypes; from hccl.manage import api, world; bound = ctypes.c_int32(-1); rank = api.get_rank_id(); "
        "world.library().aclrtGetDevice(ctypes.byref(bound)); print(rank, api.get_rank_size(), bound.value)"
    )
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RANK", "CM_", "WORLD", "LOCAL_", "ASCEND_DEV"))}
    mine = {"PYTHONPATH": str(ADAPTER), "RANK_TABLE_FILE": str(table), "RANK_ID": "0", "HCCL_CONNECT_TIMEOUT": "30"}
    done = subprocess.run([sys.executable, "-c", code], env={**kept, **mine}, capture_output=True, text=True)
    assert done.stdout.split() == ["0", "1", "3"], done.stderr


@pytest.mark.parametrize(
    ("table", "rank_id", "text"),
    [
        (template_1([0]), "1", "the ranks are 0 to 0"),
        ({**template_1([0]), "server_count": "2"}, "0", "'server_count' is 2"),
        (template_2([0]), "pod-9", "no pod_name is"),
        ({"status": "completed"}, "0", "the list 'server_list' is missing"),
    ],
)
def test_a_wrong_table_is_told(table, rank_id, text, tmp_path):
    [(code, output)] = run(by_table(table, [(0, rank_id)]), tmp_path)
    assert code != 0 and "EI0004" in output and text in output


@pytest.mark.parametrize(
    ("variable", "value", "text"),
    [
        ("RANK_SIZE", "4", "RANK_SIZE is 4, but the rank table"),
        ("RANK_SIZE", "x", "RANK_SIZE is 'x'; it is a number from 0 to 4096"),
        ("HCCL_RDMA_TC", "5", "HCCL_RDMA_TC is '5'; it is a multiple of 4 from 0 to 255"),
        ("HCCL_CONNECT_TIMEOUT", "soon", "HCCL_CONNECT_TIMEOUT is 'soon'; it is a number from 1 to 7200"),
    ],
)
def test_a_wrong_variable_is_told(variable, value, text, tmp_path):
    def environments(folder):
        for own in by_table(template_1([0]), [(0, "0")])(folder):
            yield own | {variable: value}

    [(code, output)] = run(environments, tmp_path)
    assert code != 0 and f"EI0001: {text}" in output, output


def test_no_rank_at_all(tmp_path):
    [(code, output)] = run(lambda folder: [{}], tmp_path)
    assert code != 0 and "the environment names no rank" in output and "anynpu launch" in output


def test_a_rank_that_comes_twice_is_told(tmp_path):
    def twice(folder):
        for _ in range(2):
            yield {"RANK": "0", "WORLD_SIZE": "2"}

    results = run(twice, tmp_path)
    assert all(code != 0 for code, _ in results)
    assert any("come twice" in text or "in use" in text for _, text in results)


ONE_CORE = """
import ctypes, sys
ctypes.CDLL(sys.argv[1])
from hccl.manage import world
world.library()
with open("/proc/self/maps", encoding="utf-8") as maps:
    print("CORES", sorted({line.split()[-1] for line in maps if line.rstrip().endswith("/libanynpu.so")}))
"""


def test_a_core_that_is_loaded_is_not_loaded_again(tmp_path):
    for file in LIBRARIES.glob("*.so"):
        (tmp_path / file.name).symlink_to(file)
    core = tmp_path / "libanynpu.so"
    core.unlink()
    shutil.copy(LIBRARIES / core.name, core)
    environment = {**os.environ, "PYTHONPATH": str(ADAPTER), "LD_LIBRARY_PATH": str(tmp_path), "LD_PRELOAD": ""}
    command = [sys.executable, "-c", ONE_CORE, str(core)]
    assert subprocess.check_output(command, env=environment, text=True) == f"CORES ['{core}']\n"


def refused_by_the_soc(folder, size, **variables):
    """What the first call of each of `size` ranks raises, on devices 0, 1 …"""
    code = (
        "from hccl.manage import api\n"
        "try: print(api.get_rank_size())\n"
        "except ValueError as error: print('REFUSED', error)\n"
    )
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RANK", "CM_", "WORLD", "LOCAL_", "ASCEND_DEV"))}
    table = folder / "rank_table.json"
    table.write_text(json.dumps(template_1(list(range(size)))))
    kept |= {"PYTHONPATH": str(ADAPTER), "RANK_TABLE_FILE": str(table), "HCCL_CONNECT_TIMEOUT": "30"}
    kept |= {"ANYNPU_SOC": "Ascend910A", "JOB_ID": f"soc-{os.getpid()}"} | variables
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env=kept | {"RANK_ID": str(i), "ASCEND_DEVICE_ID": str(i)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for i in range(size)
    ]
    return [text for _, text in outputs(ranks, seconds=90)]


def test_numbers_of_ranks_that_a_soc_refuses(tmp_path):
    strict = {"ANYNPU_STRICT_DEVICE": "1"}
    for text in refused_by_the_soc(tmp_path, 3, **strict):
        assert "REFUSED" in text and "3 ranks are on one host; collectives of Ascend910A are between 1, 2, 4, 8" in text
        assert "unset ANYNPU_STRICT_DEVICE" in text
    assert refused_by_the_soc(tmp_path, 2, **strict) == ["2\n"] * 2
    assert refused_by_the_soc(tmp_path, 3) == ["3\n"] * 3
    assert refused_by_the_soc(tmp_path, 3, ANYNPU_SOC="Ascend910B1", **strict) == ["3\n"] * 3
