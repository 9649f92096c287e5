# SPDX-License-Identifier: Apache-2.0
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from anynpu import command, launch

SHOW = """
import json, os, sys
names = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "RANK_ID", "RANK_SIZE", "ASCEND_DEVICE_ID", "MASTER_PORT", "JOB_ID"]
print("SAW " + json.dumps({**{name: os.environ.get(name) for name in names}, "cores": sorted(os.sched_getaffinity(0)),
      "table": os.environ.get("RANK_TABLE_FILE"), "arguments": sys.argv[1:]}))
"""


def write(folder, text):
    script = folder / "a script.py"
    script.write_text(text, encoding="utf-8")
    return script


def seen(folder, rank):
    text = (folder / "logs" / f"rank_{rank}.log").read_text(encoding="utf-8")
    return json.loads(next(line for line in text.splitlines() if line.startswith("SAW "))[4:])


def launched(folder, script, *options, arguments=()):
    return command.main(["launch", "--log-dir", str(folder / "logs"), *options, str(script), *arguments])


def test_each_rank_knows_its_place(tmp_path, capfd):
    assert launched(tmp_path, write(tmp_path, SHOW), "-n", "3", arguments=("--epochs", "2")) == 0
    ranks = [seen(tmp_path, rank) for rank in range(3)]
    for rank, saw in enumerate(ranks):
        assert saw["RANK"] == saw["LOCAL_RANK"] == saw["RANK_ID"] == saw["ASCEND_DEVICE_ID"] == str(rank)
        assert saw["WORLD_SIZE"] == saw["RANK_SIZE"] == "3"
        assert saw["arguments"] == ["--epochs", "2"]
    assert len({saw["MASTER_PORT"] for saw in ranks}) == len({saw["JOB_ID"] for saw in ranks}) == 1
    out, err = capfd.readouterr()
    assert '"RANK": "0"' in out and '"RANK": "1"' not in out
    assert "rank 2: done" in err


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core cannot be shared out")
def test_cores_are_shared_out(tmp_path):
    assert launched(tmp_path, write(tmp_path, SHOW), "-n", "2") == 0
    first, second = (set(seen(tmp_path, rank)["cores"]) for rank in range(2))
    assert first and second and not first & second
    assert launched(tmp_path, tmp_path / "a script.py", "-n", "2", "--no-bind") == 0
    assert set(seen(tmp_path, 0)["cores"]) == os.sched_getaffinity(0)


def test_a_rank_table_says_which_devices(tmp_path):
    table = tmp_path / "table.json"
    devices = [{"device_id": "3", "rank_id": "1"}, {"device_id": "2", "rank_id": "0"}]
    table.write_text(json.dumps({"server_list": [{"server_id": "a", "device": devices}]}), encoding="utf-8")
    assert launched(tmp_path, write(tmp_path, SHOW), "--rank-table", str(table)) == 0
    assert [seen(tmp_path, rank)["ASCEND_DEVICE_ID"] for rank in range(2)] == ["2", "3"]
    assert seen(tmp_path, 1)["table"] == str(table)


def test_when_a_rank_fails_the_others_are_stopped_and_its_code_is_ours(tmp_path, capfd):
    script = write(
        tmp_path,
        "import os, sys, time\nif os.environ['RANK'] == '1':\n    print('the reason'); sys.exit(7)\ntime.sleep(600)\n",
    )
    start = time.monotonic()
    assert launched(tmp_path, script, "-n", "3") == 7
    assert time.monotonic() - start < 30
    err = capfd.readouterr().err
    assert "rank 1: exit code 7" in err and "the reason" in err and "rank 0: ended by SIGTERM" in err


def test_one_rank_that_fails_at_once(tmp_path):
    assert launched(tmp_path, write(tmp_path, "import os; os._exit(9)"), "-n", "1") == 9


def test_a_killed_rank_is_told(tmp_path, capfd):
    script = write(
        tmp_path,
        "import os, signal, time\n"
        "if os.environ['RANK'] == '0':\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "time.sleep(600)\n",
    )
    assert launched(tmp_path, script, "-n", "2") == 128 + signal.SIGKILL
    assert "rank 0: ended by SIGKILL" in capfd.readouterr().err


def test_an_interrupt_ends_all_ranks(tmp_path):
    script = write(tmp_path, "import os, time\nprint('PID', os.getpid(), flush=True)\ntime.sleep(600)\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "anynpu", "launch", "--log-dir", str(tmp_path / "logs"), "-n", "2", str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    logs = [tmp_path / "logs" / f"rank_{rank}.log" for rank in range(2)]
    until = time.monotonic() + 60
    while not all(log.exists() and "PID" in log.read_text(encoding="utf-8") for log in logs):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.05)
    pids = [int(log.read_text(encoding="utf-8").split()[1]) for log in logs]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ([], "how many ranks?"),
        (["-n", "0"], "how many ranks?"),
        (["--rank-table", "TABLE"], "is no rank table"),
        (["-n", "3", "--rank-table", "GOOD"], "-n is 3, but"),
    ],
)
def test_what_makes_no_sense_is_told(options, text, tmp_path, capsys):
    (tmp_path / "table.json").write_text('{"server_list": [{"device": [{}]}]}', encoding="utf-8")
    good = {"server_list": [{"server_id": "a", "device": [{"device_id": "0", "rank_id": "0"}]}]}
    (tmp_path / "good.json").write_text(json.dumps(good), encoding="utf-8")
    names = {"TABLE": str(tmp_path / "table.json"), "GOOD": str(tmp_path / "good.json")}
    assert launched(tmp_path, write(tmp_path, SHOW), *[names.get(each, each) for each in options]) == 1
    assert text in capsys.readouterr().err


def test_ranks_of_template_2_follow_servers_and_devices(tmp_path):
    table = tmp_path / "table.json"
    instances = [
        {"pod_name": "b", "server_id": "s", "devices": [{"device_id": "5"}, {"device_id": "4"}]},
        {"pod_name": "a", "server_id": "t", "devices": [{"device_id": "0"}]},
    ]
    table.write_text(json.dumps({"group_list": [{"instance_list": instances}]}), encoding="utf-8")
    assert launch.table_devices(table) == [4, 5, 0]
