# SPDX-License-Identifier: Apache-2.0
"""A rank that ends, stops, leaves or asks something else: every other rank hears it by name, in time, and goes on."""

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest
from hccl_c import outputs, start
from rank_tables import template_1

pytestmark = pytest.mark.alone
SIZE = 3
LIMIT = 2.0  # seconds until every surviving rank has its error


def heard(text):
    found = re.search(r"HEARD after ([\d.]+) s, async (\d+): (.*)", text)
    assert found, text[-2000:]
    return float(found[1]), int(found[2]), found[3]


ENDED = {
    "killed": "has ended",
    "killed_busy": "has ended",
    "reset": "was reset",
    "exited": "has ended",
    "returned": "has left the communicator",
    "killed_in_receive": "has ended",
    "left": "has left the communicator",
}


@pytest.mark.promise("a rank that ends, stops, leaves or asks something else is named by all others within 2 s")
@pytest.mark.parametrize("what", ENDED)
def test_a_rank_that_goes_is_named(what, tmp_path, record_property):
    results = outputs(start("fault.py", tmp_path, SIZE, what), seconds=60)
    for code, text in results[: SIZE - 1]:
        seconds, error, message = heard(text)
        record_property("seconds", seconds)
        print(f"{what}: {seconds:.3f} s")
        assert seconds < LIMIT
        assert error == 21  # HCCL_E_REMOTE
        assert f"rank {SIZE - 1} (host " in message and ENDED[what] in message
        assert "all_reduce" in message  # its last call
        again = re.findall("AGAIN (.*)", text)
        assert len(again) == 12 and len(set(again)) == 1 and again[0] in message, text
        assert text.rstrip().endswith("DONE") and code == 0
        assert ("TOGETHER AGAIN" in text) == (what == "reset")


def test_a_rank_that_is_done_disturbs_nobody(tmp_path):
    """A script may end without HcclCommDestroy while the others still save, or evaluate on their own."""
    for code, text in outputs(start("fault.py", tmp_path, SIZE, "done"), seconds=60)[: SIZE - 1]:
        assert code == 0 and "DISTURBED 0" in text, text[-2000:]


DIFFERS = {
    "other_count": "count is 200000 and 100000",
    "other_dtype": "dataType is float32 and int32",
    "other_op": "op is sum and max",
    "other_root": "root is 0 and 1",
    "other_operation": "the operation is all_reduce and all_gather",
    "other_order": "the operation is all_reduce and broadcast",
}


@pytest.mark.parametrize("what", DIFFERS)
def test_a_rank_that_asks_something_else_is_named(what, tmp_path):
    results = outputs(start("fault.py", tmp_path, SIZE, what), seconds=60)
    for code, text in results:
        seconds, error, message = heard(text)
        print(f"{what}: {seconds:.3f} s")
        assert seconds < LIMIT
        assert error == 1  # HCCL_E_PARA
        assert "EI0005" in message and f"rank {SIZE - 1} (host " in message and DIFFERS[what] in message
        assert code == 0


def test_a_stopped_rank_is_named(tmp_path):
    processes = start("fault.py", tmp_path, SIZE, "stopped", environment={"ANYNPU_STOPPED_AFTER": "2"})
    survivors = outputs(processes[: SIZE - 1], seconds=60)
    os.kill(processes[-1].pid, signal.SIGCONT)
    outputs(processes[-1:], seconds=60)
    for code, text in survivors:
        seconds, error, message = heard(text)
        assert 1.0 < seconds < 6
        assert error == 21 and f"rank {SIZE - 1} (host " in message and "no sign of life" in message
        assert code == 0


def test_a_rank_that_never_comes_is_named_at_the_limit(tmp_path):
    processes = start("fault.py", tmp_path, SIZE, "late", environment={"HCCL_EXEC_TIMEOUT": "2"})
    survivors = outputs(processes[: SIZE - 1], seconds=60)
    processes[-1].kill()
    for code, text in survivors:
        seconds, error, message = heard(text)
        assert 1.5 < seconds < 6
        assert error in (9, 21) and f"rank {SIZE - 1} (host " in message
        assert code == 0
    assert any("HCCL_EXEC_TIMEOUT" in text for _, text in survivors)


def gathered(what, folder, *arguments, size=SIZE, environment=None, guilty=None):
    """Texts by rank of gather.py; every rank but the guilty one has heard within the limit."""
    guilty = size - 1 if guilty is None else guilty
    environment = {"HCCL_CONNECT_TIMEOUT": "10"} | (environment or {})
    results = outputs(start("gather.py", folder, size, what, *arguments, environment=environment), seconds=40)
    begun = [[float(t) for t in re.findall(r"GUILTY ([\d.]+)", text)] for _, text in results]
    assert len(begun[guilty]) == 1, results[guilty][1]
    # Where all of them say when they begin, nobody can hear anything before the last one has come.
    begin = max(sum(begun, []))
    texts, slowest = [], 0
    for rank, (_, text) in enumerate(results):
        found = re.search(r"HEARD ([\d.]+) (\d+) (.*)", text)
        texts.append(found[3] if found else text)
        if rank != guilty:
            assert found, f"rank {rank}: {text[-2000:]}"
            slowest = max(slowest, float(found[1]) - begin)
    print(f"{what}: {slowest:.3f} s")
    return texts, slowest


BEGINNINGS = {
    "other_version": ["EI0008", "rank 2 (host here", "runs version 9.9.9", "all ranks must run the same version"],
    "other_protocol": ["EI0008", "rank 2 (host here", "protocol 99"],
    "twice": ["EI0005", "rank 1 has come twice", "check RANK_ID"],
    "other_size": ["EI0005", "nRanks is 4 for rank 2 (host", "and 3 for"],
    "torn": ["EI0006", "rank 2 (host", "its connection was reset", "while the ranks were gathering"],
}


@pytest.mark.parametrize("what", BEGINNINGS)
def test_a_rank_that_comes_wrongly_is_named(what, tmp_path):
    texts, slowest = gathered(what, tmp_path)
    assert slowest < LIMIT
    for text in texts[: SIZE - 1]:
        assert all(part in text for part in BEGINNINGS[what]), text


def test_a_rank_that_ends_while_others_gather_is_named_also_to_late_ones(tmp_path):
    texts, _ = gathered("gone", tmp_path, guilty=1)
    assert texts[0] == texts[2] and "EI0006" in texts[0] and "rank 1 (host" in texts[0], texts


def test_the_end_of_the_rank_that_gathers_is_heard(tmp_path):
    results = outputs(start("gather.py", tmp_path, SIZE, "root_gone"), seconds=60)
    begin = float(re.search(r"GUILTY ([\d.]+)", results[0][1])[1])
    heard_at, text = re.search(r"HEARD ([\d.]+) \d+ (.*)", results[1][1]).groups()
    print(f"root_gone: {float(heard_at) - begin:.3f} s")
    assert float(heard_at) - begin < LIMIT
    assert re.search(r"EI0006: (rank 0|the process that gathers the ranks) \(host \S+, .*process \d+\) has ended", text)
    assert "while it gathered the ranks" in text, text
    late = float(re.search(r"LATE ([\d.]+)", results[2][1])[1])
    assert late < LIMIT and "EI0006" in results[2][1], results[2][1]


def test_ports_in_use_are_named(tmp_path):
    first = 24000 + os.getpid() % 4000  # below the ports that the system gives out
    environment = {"HCCL_IF_BASE_PORT": str(first), "HCCL_IF_IP": "127.0.0.1"}
    results = outputs(start("gather.py", tmp_path, 1, "ports", environment=environment), seconds=60)
    [(code, text)] = results
    assert code == 0 and f"EI0019: ports {first} to {first + 15} of 127.0.0.1 are all in use" in text, text
    begin, heard_at = re.search(r"GUILTY ([\d.]+)\nHEARD ([\d.]+)", text).groups()
    print(f"ports: {float(heard_at) - float(begin):.3f} s")


def table_file(folder, name, content):
    path = Path(folder) / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_rank_tables_that_differ_are_named(tmp_path):
    mine, other = (
        table_file(tmp_path, "a.json", template_1([0, 1, 2])),
        table_file(tmp_path, "b.json", template_1([0, 1, 2, 3])),
    )
    texts, slowest = gathered("table", tmp_path, mine, other)
    assert slowest < LIMIT
    for text in texts:
        assert "EI0004: ranks have different rank tables: rank 2 (host" in text, text
        assert f"has {other} (4 ranks), rank 0 (host" in text and f"has {mine} (3 ranks)" in text


def test_jobs_with_tables_of_their_own_devices_leave_each_other_alone(tmp_path):
    """Of one launcher, without JOB_ID, and each waits for a rank that comes late."""
    tables = [table_file(tmp_path, f"{d}.json", template_1([d, d + 1])) for d in (0, 2)]
    environment = {"HCCL_CONNECT_TIMEOUT": "20", "JOB_ID": ""}
    jobs = [
        start("gather.py", tmp_path, 2, f"late_table_{late}", table, environment=environment)
        for late, table in zip((1, 0), tables, strict=True)
    ]
    for code, text in outputs([process for job in jobs for process in job], seconds=60):
        assert code == 0 and "HEARD nothing" in text, text


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('"rank_id": "1"', '"rank_id": "3"'), "rank_id 1 is missing; ranks are 0 to 2"),
        (('"device_id": "1"', '"device_id": "0"'), "device_id 0 stands twice on server"),
        (('"server_list": [', '"server_list": [{"server_id": "10.0.0.11", "device": []}, '), "'server_count' is 1"),
        (('"server_id"', '"server"'), "'server_id' is missing"),
        (("}]}]}", ""), "no JSON"),
        (('"device_id": "1"', '"device_id": "9"'), "device_id of rank 1 is 9, but there are devices 0 to 7"),
        (('"192.168.1.1"', '"192.168.1.0"'), "device_ip 192.168.1.0 stands twice"),
        (('"completed"', '"ready"'), "status is 'ready'"),
    ],
)
def test_a_wrong_table_is_told_with_its_place(change, told, tmp_path):
    table = table_file(tmp_path, "t.json", json.dumps(template_1([0, 1, 2])).replace(*change))
    texts, slowest = gathered("table", tmp_path, table)
    assert slowest < LIMIT and all(f"EI0004: {table}" in text and told in text for text in texts), texts


def test_a_table_that_contradicts_the_environment_is_told(tmp_path):
    table = table_file(tmp_path, "t.json", template_1([1, 2]))
    texts, _ = gathered("table", tmp_path, table, size=2, environment={"ASCEND_DEVICE_ID": "5"})
    for rank, text in enumerate(texts):
        assert f"EI0004: {table}: device_id of rank {rank} is {rank + 1}, but ASCEND_DEVICE_ID is '5'" in text, text


CHIEF = {"CM_CHIEF_IP": "192.168.1.1", "CM_CHIEF_PORT": "6000", "CM_CHIEF_DEVICE": "0", "CM_WORKER_SIZE": "2"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"CM_WORKER_SIZE": "0"}, "CM_WORKER_SIZE is 0"),
        ({"CM_WORKER_SIZE": "9"}, "CM_WORKER_SIZE is 9, but there are 8 devices"),
        ({"CM_CHIEF_DEVICE": "8"}, "CM_CHIEF_DEVICE is 8, but there are devices 0 to 7"),
    ],
)
def test_a_chief_that_cannot_be_is_not_waited_for(change, told, tmp_path):
    begin = time.monotonic()
    [text], _ = gathered("world", tmp_path, size=1, guilty=0, environment={**CHIEF, **change})
    assert told in text and time.monotonic() - begin < 8  # of 10 s that it would wait


def test_a_rank_without_a_number_is_not_given_one_in_texts(tmp_path):
    environment = {**CHIEF, "CM_CHIEF_PORT": str(28000 + os.getpid() % 4000), "HCCL_CONNECT_TIMEOUT": "2"}
    [text], _ = gathered("world", tmp_path, size=1, guilty=0, environment=environment)
    assert "1 of 2 ranks have come: a rank (host" in text and "4294967295" not in text


def test_a_table_of_several_servers_needs_the_first_ones_address(tmp_path):
    content = template_1([0, 1])
    device = {"device_id": "0", "device_ip": "192.168.1.9", "rank_id": "2"}
    content["server_list"].append({"server_id": "10.0.0.11", "device": [device]})
    table = table_file(tmp_path, "t.json", content | {"server_count": "2"})
    [text], slowest = gathered("table", tmp_path, table, size=1, guilty=0)
    assert slowest < LIMIT
    assert f"EI0004: {table}: rank 0 is on server '10.0.0.10'" in text and "no address of this machine" in text, text


def test_a_rank_without_room_for_its_peers_tells_them(tmp_path):
    texts, slowest = gathered("no_addresses", tmp_path)
    assert slowest < LIMIT
    for text in texts:
        assert "rank 2 (host" in text and "has failed in all_reduce" in text and "cannot be mapped" in text, text


# Around its greeting and its first calls; what a rank holds then are sockets, a board, peers' memory.
@pytest.mark.parametrize("milliseconds", [2, 3, 5, 8, 13, 21, 34])
def test_a_rank_that_is_killed_while_it_joins_is_named(milliseconds, tmp_path):
    environment = {"HCCL_CONNECT_TIMEOUT": "4"}
    texts, slowest = gathered(f"killed_at_{milliseconds}", tmp_path, environment=environment)
    if all("missing: 2" in text for text in texts[: SIZE - 1]):
        return  # killed before it had said who it is
    assert slowest < LIMIT
    assert all("rank 2 (host" in text for text in texts[: SIZE - 1]), texts


def test_nothing_is_left_behind(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    environment = {"XDG_RUNTIME_DIR": str(folder)}
    outputs(start("fault.py", tmp_path, SIZE, "killed", environment=environment), seconds=60)
    left = {path.suffix for path in folder.rglob("*") if path.is_file() or path.is_socket()}
    assert left <= {".sock", ".page"}  # of the killed process; the next one removes them
    (tmp_path / "root").unlink()
    outputs(start("fault.py", tmp_path, 2, "other_op", environment=environment), seconds=60)
    time.sleep(0.1)
    assert [path.name for path in folder.rglob("*.sock")] == []


def test_nothing_is_left_when_all_are_killed(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    environment = {"XDG_RUNTIME_DIR": str(folder)}
    shared = set(os.listdir("/dev/shm"))
    processes = start("fault.py", tmp_path, SIZE, "all_busy", environment=environment)
    for process in processes:
        assert "BUSY" in process.stdout.readline()
    time.sleep(0.2)
    for process in processes:
        process.kill()
    assert [process.wait(10) for process in processes] == [-signal.SIGKILL] * SIZE
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(tmp_path).encode() in readable(path)]
    assert set(os.listdir("/dev/shm")) <= shared
    (tmp_path / "root").unlink()
    outputs(start("fault.py", tmp_path, 2, "other_op", environment=environment), seconds=60)
    time.sleep(0.1)
    assert [path.name for path in folder.rglob("*") if path.is_socket()] == []


def readable(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_a_missing_rank_is_named(tmp_path):
    processes = start("fault.py", tmp_path, SIZE, "killed", environment={"HCCL_CONNECT_TIMEOUT": "3"})
    processes[1].kill()
    for code, text in outputs([processes[0], processes[2]], seconds=60):
        assert code != 0 and "EI0006" in text
        assert "missing: 1" in text or "rank 1 (host" in text
