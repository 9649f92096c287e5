# SPDX-License-Identifier: Apache-2.0
"""All ways in which ranks of two hosts find each other: each sees all of them, and which are on its host."""

import json
import shutil
import subprocess
import sys

import pytest
from hccl_c import outputs
from placed import COLLECTIVE, PATHS, as_torchrun, places, table

LAYOUT = (2, 1)
SIZE = sum(LAYOUT)
SCRIPT = COLLECTIVE / "manage.py"


def as_table(hosts, layout, folder):
    path = folder / "table.json"
    path.write_text(json.dumps(table(hosts, layout)), encoding="utf-8")
    for place in places(hosts, layout):
        yield place, {"RANK_TABLE_FILE": path, "RANK_ID": place.rank, "ASCEND_DEVICE_ID": place.local}


def as_chief(hosts, layout, _):
    """Ranks follow addresses of hosts and devices."""
    ranks = places(hosts, layout)
    common = {
        "CM_CHIEF_IP": hosts[0].address,
        "CM_CHIEF_PORT": 6000,
        "CM_CHIEF_DEVICE": 0,
        "CM_WORKER_SIZE": len(ranks),
    }
    for place in ranks:
        yield place, {**common, "CM_WORKER_IP": place.host.address, "ASCEND_DEVICE_ID": place.local}


def as_loop(hosts, layout, _):
    """A loop in a shell on each host: it says where rank 0 is, and no more."""
    for place, own in as_torchrun(hosts, layout):
        yield place, {name: own[name] for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")}


def as_srun(hosts, layout, _):
    """What srun sets. Names of hosts are known everywhere."""
    names = ",".join(host.name for host in hosts)
    for place in places(hosts, layout):
        yield (
            place,
            {
                "SLURM_PROCID": str(place.rank),
                "SLURM_LOCALID": str(place.local),
                "SLURM_NTASKS": str(sum(layout)),
                "SLURM_NNODES": str(len(layout)),
                "SLURM_JOB_ID": "77",
                "SLURM_STEP_ID": "0",
                "SLURM_JOB_NODELIST": names,
                "ASCEND_DEVICE_ID": str(place.local),
            },
        )


WAYS = {
    "table": as_table,
    "chief": as_chief,
    "torchrun": lambda hosts, layout, _: as_torchrun(hosts, layout),
    "loop": as_loop,
    "srun": as_srun,
}


def texts(variables):
    return {name: str(value) for name, value in variables.items()}


def seen(results):
    """By rank, what each said."""
    for code, text in results:
        assert code == 0, text[-3000:]
    lines = [line for _, text in results for line in text.splitlines() if "SAW " in line]
    return sorted((json.loads(line.partition("SAW ")[2]) for line in lines), key=lambda each: each["rank"])


def check(found):
    assert [each["rank"] for each in found] == list(range(SIZE))
    assert [each["local"] for each in found] == [[2, 0], [2, 1], [1, 0]], found
    assert all(each["size"] == SIZE for each in found)
    assert [found[rank]["ends"] for rank in (0, SIZE - 1)] == [[2, 1, 2], [2, 0, 2]]


@pytest.mark.promise("ranks of several hosts meet by rank table, CM_*, torchrun, loops, srun and mpirun")
@pytest.mark.parametrize("way", WAYS)
def test_ranks_meet(way, hosts, tmp_path):
    ranks = WAYS[way](hosts(2), LAYOUT, tmp_path)
    check(seen(outputs([place.start(SCRIPT, environment=texts(own)) for place, own in ranks], seconds=90)))


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="OpenMPI is not among our packages")
@pytest.mark.parametrize("told", [True, False], ids=["", "not_told_where"])
def test_ranks_of_mpirun_meet(told, hosts, tmp_path):
    """mpirun says nowhere where rank 0 is; asked for, it is told. It has the network of a third host and the rest of
    this machine: nobody within a host could call the agent."""
    three = hosts(3)
    where = ",".join(f"{host.address}:{count}" for host, count in zip(three, LAYOUT, strict=False))
    command = ["nsenter", f"--net={three[2].space('net')}", "mpirun", "--allow-run-as-root", "-n", SIZE]
    command += ["--host", where, "--map-by", "slot", "--bind-to", "none"]
    command += ["--mca", "plm_rsh_agent", three.agent(tmp_path), "--mca", "oob_tcp_if_include", "eth0"]
    command += ["-x", f"PYTHONPATH={PATHS}", *(["-x", f"MASTER_ADDR={three[0].address}"] if told else [])]
    command += ["sh", "-c", f"ASCEND_DEVICE_ID=$OMPI_COMM_WORLD_LOCAL_RANK exec {sys.executable} {SCRIPT}"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=90, env=three[2].variables())
    code, text = done.returncode, done.stdout + done.stderr
    if told:
        check(seen([(code, text)]))
    else:
        assert code != 0 and "not said where rank 0 is" in text and "-x MASTER_ADDR" in text, text[-2000:]


def test_a_host_that_is_not_on_the_list_is_refused(hosts, tmp_path):
    """Only it hears so at once: whoever comes to a port may not end the job of others."""
    two = hosts(2)
    listed = tmp_path / "list.json"
    listed.write_text(json.dumps({"host_ip": [two[0].address]}), encoding="utf-8")
    own = {"HCCL_WHITELIST_DISABLE": "0", "HCCL_WHITELIST_FILE": str(listed), "HCCL_CONNECT_TIMEOUT": "8"}
    ranks = [(place, texts(more)) for place, more in as_torchrun(two, LAYOUT)]
    processes = [
        place.start(SCRIPT, environment={**more, **(own if place.host is two[0] else {"HCCL_CONNECT_TIMEOUT": "8"})})
        for place, more in ranks
    ]
    found = [text for _, text in outputs(processes, seconds=60)]
    assert "comes from 10.0.0.2, which the HCCL_WHITELIST_FILE of rank 0 (host node0" in found[2], found[2][-2000:]
    assert all("of 3 ranks 2 have come; missing: 2" in text for text in found[:2]), found[0][-2000:]
