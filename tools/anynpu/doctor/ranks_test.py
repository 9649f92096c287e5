# SPDX-License-Identifier: Apache-2.0
"""Each finding about ranks, with the environment or the machine that brings it about."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from anynpu.doctor import ranks as doctor_ranks
from anynpu.library import place

ASK = (
    "import json, sys; from anynpu.doctor import ranks; "
    "print(json.dumps([[f.grade, f.text, f.cure] for f in getattr(ranks, sys.argv[1])()]))"
)


def findings(check, **environment):
    """In a process of its own: the library reads variables once."""
    base = {name: value for name, value in os.environ.items() if name not in doctor_ranks.NAMES_RANKS}
    base |= {"PYTHONPATH": str(place.HERE.parent), "MASTER_PORT": "", "ANYNPU_THREADS": ""}
    done = subprocess.run(
        [sys.executable, "-c", ASK, check], env={**base, **environment}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return [tuple(finding) for finding in json.loads(done.stdout)]


def one(check, **environment):
    [finding] = findings(check, **environment)
    return finding


def written(folder, *devices):
    device = [{"device_id": str(d), "rank_id": str(r)} for r, d in enumerate(devices)]
    table = {
        "status": "completed",
        "server_list": [{"server_id": "s0", "device": device}],
    }
    path = folder / "table.json"
    path.write_text(json.dumps(table), encoding="utf-8")
    return {"RANK_TABLE_FILE": str(path), "RANK_ID": "1"}


CM = {"CM_CHIEF_IP": "10.0.0.1", "CM_CHIEF_PORT": "6000", "CM_CHIEF_DEVICE": "0", "CM_WORKER_SIZE": "2"}


def test_variables_that_agree_are_well(tmp_path):
    assert findings("check_variables") == []
    table = written(tmp_path, 2, 3)
    more = {"RANK_SIZE": "2", "WORLD_SIZE": "2", "RANK": "1", "ASCEND_DEVICE_ID": "3"}
    grade, text, _ = one("check_variables", **table, **more)
    assert (grade, text) == ("ok", f"programs started here are rank 1 of 2, as {table['RANK_TABLE_FILE']} says")
    assert one("check_variables", **CM)[1] == "programs started here are one of 2 ranks, as CM_CHIEF_IP says"


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (
            {"RANK_SIZE": "4"},
            "EI0001: RANK_SIZE is 4, but the rank table {table} has 2 ranks; correct one of them, or unset RANK_SIZE",
        ),
        ({"WORLD_SIZE": "4"}, "WORLD_SIZE is 4, but the rank table {table} says 2"),
        ({"RANK": "0"}, "RANK is 0, but the rank table {table} says 1"),
        ({"ASCEND_DEVICE_ID": "0"}, "ASCEND_DEVICE_ID is 0, but the rank table {table} for RANK_ID 1 says 3"),
        ({"ANYNPU_DEVICES": "3"}, "{table} names device 3, but there are NPUs 0 to 2"),
    ],
)
def test_what_contradicts_the_table_is_found(wrong, text, tmp_path):
    table = written(tmp_path, 2, 3)
    (grade, found, cure), *_ = findings("check_variables", **table, **wrong)
    assert grade == "bad" and cure and found == text.format(table=table["RANK_TABLE_FILE"])


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({**CM, "RANK_TABLE_FILE": "TABLE"}, "RANK_TABLE_FILE and CM_CHIEF_IP are both set"),
        ({"RANK_TABLE_FILE": "TABLE", "RANK_ID": ""}, "RANK_ID is not"),
        ({"RANK_TABLE_FILE": "TABLE", "RANK_ID": "7"}, "RANK_ID is '7'; the ranks are 0 to 1"),
        ({"RANK_TABLE_FILE": "/nowhere", "RANK_ID": "0"}, "/nowhere cannot be opened"),
        ({**CM, "CM_WORKER_SIZE": "two"}, "CM_WORKER_SIZE is 'two'"),
        ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK is 2, but WORLD_SIZE is 2"),
    ],
)
def test_variables_that_make_no_sense_are_found(variables, text, tmp_path):
    table = written(tmp_path, 0, 1)["RANK_TABLE_FILE"]
    given = {name: value.replace("TABLE", table) for name, value in variables.items()}
    grade, found, cure = one("check_variables", **given)
    assert grade == "bad" and text in found and "now: " in cure


def test_variables_without_effect_are_noted(tmp_path):
    assert one("check_variables", RANK_ID="0")[:2] == (
        "note",
        "RANK_ID is set, but RANK_TABLE_FILE is not: alone it has no effect",
    )
    assert "CM_CHIEF_PORT is set, but CM_CHIEF_IP" in one("check_variables", CM_CHIEF_PORT="6000")[1]
    assert "WORLD_SIZE is set, but RANK is not" in one("check_variables", WORLD_SIZE="2")[1]
    (grade, text, _), _ = findings("check_variables", **CM, RANK_SIZE="2", RANK_ID="0")
    assert grade == "note" and "RANK_ID and RANK_SIZE set beside it count for nothing" in text


def test_a_table_may_name_npus_that_are_chosen_from(tmp_path):
    chosen = {"ANYNPU_DEVICES": "4", "ASCEND_RT_VISIBLE_DEVICES": "2,3"}
    assert one("check_variables", **written(tmp_path, 2, 3), **chosen)[0] == "ok"


def test_two_ranks_meet(tmp_path):
    grade, text, _ = one("check_meeting", XDG_RUNTIME_DIR=str(tmp_path), RANK="7", WORLD_SIZE="9")
    assert grade == "ok" and text.endswith(f"by sockets in {tmp_path / 'anynpu'}"), text


def test_ranks_that_cannot_meet_are_found(tmp_path):
    long = tmp_path / ("a" * 100)
    long.mkdir()
    grade, text, cure = one("check_meeting", XDG_RUNTIME_DIR=str(long))
    assert grade == "bad" and "two ranks do not meet" in text and "longer than a socket's may be" in text
    assert "XDG_RUNTIME_DIR" in cure


def base_port():
    """The first of 16 ports that nobody listens at."""
    return next(b for b in range(30000, 60000, 16) if all(map(doctor_ranks.is_free, range(b, b + 16))))


def listening(port):
    out = socket.socket()
    out.bind(("127.0.0.1", port))
    out.listen(1)
    return out


def test_ports_that_are_in_use_are_found():
    base = base_port()
    own = {"HCCL_IF_BASE_PORT": str(base)}
    name = f"ports {base} to {base + 15}"
    assert one("check_ports", **own)[:2] == ("ok", f"{name}, where ranks of tables and launchers meet, free")
    held = [listening(base)]
    grade, text, _ = one("check_ports", **own)
    who = f"by {Path('/proc/self/comm').read_text().strip()} (process {os.getpid()})"
    assert (grade, text) == ("note", f"of {name}, where ranks meet, 1 in use: {base} {who}")
    held += [listening(port) for port in range(base + 1, base + 16)]
    grade, text, cure = one("check_ports", **own)
    assert (grade, text) == ("bad", f"{name}, where ranks meet, in use {who}") and "set HCCL_IF_BASE_PORT" in cure
    grade, text, cure = one("check_ports", **CM | {"CM_CHIEF_PORT": str(base)})
    assert grade == "bad" and f"port {base}, where ranks meet, in use" in text and "CM_CHIEF_PORT" in cure
    for each in held:
        each.close()


def test_torchs_port_among_those_of_the_ranks_is_found():
    base = base_port()
    own = {"HCCL_IF_BASE_PORT": str(base), "MASTER_PORT": str(base + 3)}
    (grade, text, cure), (second, _, _) = findings("check_ports", **own)
    assert (grade, second) == ("note", "ok") and f"MASTER_PORT {base + 3} is torch's" in text
    assert "another MASTER_PORT" in cure
    (grade, _, cure), _ = findings("check_ports", **CM | {"CM_CHIEF_PORT": str(base), "MASTER_PORT": str(base)})
    assert grade == "bad" and "another CM_CHIEF_PORT" in cure


def machine(monkeypatch, cores, all_cores, ranks, threads=""):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    monkeypatch.setattr(os, "cpu_count", lambda: all_cores)
    monkeypatch.setattr(doctor_ranks, "size", lambda: ranks)
    monkeypatch.setenv("ANYNPU_THREADS", threads)
    return [(finding.grade, finding.text) for finding in doctor_ranks.check_cores()]


def test_cores(monkeypatch):
    assert machine(monkeypatch, 4, 4, 2) == [("ok", "cores of their own for 4 ranks")]
    assert machine(monkeypatch, 1, 4, 0) == [
        ("note", "only 1 of 4 cores may be used here"),
        ("ok", "cores of their own for 1 ranks"),
    ]
    assert machine(monkeypatch, 2, 2, 4) == [("note", "4 ranks on 2 cores: they take turns, and wait for each other")]
    assert machine(monkeypatch, 4, 4, 2, "4") == [("note", "ANYNPU_THREADS is 4: 2 ranks have 8 threads on 4 cores")]


def test_memory(monkeypatch):
    giga = doctor_ranks.GIGA
    now = SimpleNamespace(problem="", capacity=12 * giga, machine_memory=16 * giga)
    monkeypatch.setattr(doctor_ranks.door, "configured", lambda: now)
    monkeypatch.setattr(doctor_ranks, "available", lambda: 6 * giga)

    def found(ranks):
        monkeypatch.setattr(doctor_ranks, "size", lambda: ranks)
        [finding] = doctor_ranks.check_memory()
        return finding

    assert (found(0).grade, found(0).text) == ("ok", "6.0 GiB of memory are free: 3 ranks with 2 GiB each")
    assert found(8).text == "6.0 GiB of memory are free: 0.8 GiB for each of 8 ranks"
    assert found(4).grade == "note" and found(4).cure.startswith("set ANYNPU_MEMORY=3.2G")
    now.capacity = 3 * giga
    assert found(4).grade == "ok"


def test_free_memory_is_at_most_the_machines():
    assert 0 < doctor_ranks.available() <= doctor_ranks.door.configured().machine_memory
