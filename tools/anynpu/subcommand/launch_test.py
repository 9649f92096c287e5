# SPDX-License-Identifier: Apache-2.0
import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest

from anynpu import command
from anynpu.subcommand import launch

SHOW = """
import json, os, sys
names = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "RANK_ID", "RANK_SIZE", "ASCEND_DEVICE_ID", "MASTER_PORT", "JOB_ID"]
print("SAW " + json.dumps({**{name: os.environ.get(name) for name in names}, "cores": sorted(os.sched_getaffinity(0)),
      "table": os.environ.get("RANK_TABLE_FILE"), "chief": os.environ.get("CM_CHIEF_IP"), "arguments": sys.argv[1:]}))
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
    table.write_text(
        json.dumps({"status": "completed", "server_list": [{"server_id": "a", "device": devices}]}), encoding="utf-8"
    )
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
    assert "rank 1: exit code 7" in err and "rank 0: ended by SIGTERM" in err
    assert "rank 1 has failed: exit code 7" in err and err.endswith("rank_1.log:\nthe reason\n")


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


TALE = """
import os, signal, sys, time
from pathlib import Path
rank, pid = int(os.environ["RANK"]), Path(sys.argv[1], "pid")
if rank == 1:
    pid.with_suffix(".part").write_text(str(os.getpid()))
    pid.with_suffix(".part").rename(pid)
    if sys.argv[2] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    print("the reason", flush=True)
    time.sleep(600 if sys.argv[2] == "hangs" else 1)
    sys.exit(4)
while not pid.exists():
    time.sleep(0.01)
print(f"EI0002: all_reduce waits for rank 0 (host vm, device 1, process {pid.read_text()}), which has left")
sys.stdout.flush()
os.abort()
"""


@pytest.mark.parametrize(
    ("what", "code", "told"),
    [
        ("fails", 4, "rank 1 has failed: exit code 4"),
        ("killed", 128 + signal.SIGKILL, "rank 1 has failed: ended by SIGKILL"),
        ("hangs", 128 + signal.SIGABRT, "it has waited for rank 1: see "),
    ],
)
def test_the_rank_that_others_wait_for_is_named(what, code, told, tmp_path, capfd):
    """The others end first, for they hear of it while the interpreter of the culprit still cleans up."""
    assert launched(tmp_path, write(tmp_path, TALE), "-n", "3", arguments=(str(tmp_path), what)) == code
    err = capfd.readouterr().err
    assert told in err and ("the reason" in err) == (what == "fails")


def test_a_full_disk_is_named(tmp_path, capfd):
    """A rank that cannot write ends, and can tell nobody why."""
    (tmp_path / "logs").mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", tmp_path / "logs"], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("only root may mount a small disk")
    try:
        assert launched(tmp_path, write(tmp_path, "print('a line' * 100000)"), "-n", "2") != 0
    finally:
        subprocess.run(["umount", tmp_path / "logs"], check=True)
    err = capfd.readouterr().err
    assert " has failed" in err
    assert ".log cannot be written: No space left on device" in err and "--log-dir" in err


def test_a_folder_that_cannot_be_made_is_named(tmp_path, capfd):
    (tmp_path / "file").touch()
    script = write(tmp_path, "print('a line')")
    assert command.main(["launch", "-n", "1", "--log-dir", str(tmp_path / "file" / "logs"), str(script)]) == 1
    assert "logs cannot be written: Not a directory" in capfd.readouterr().err


CHILDREN = """
import os, subprocess, sys, time
child = subprocess.Popen(["sleep", "600"])
print("PIDS", os.getpid(), child.pid, flush=True)
"""


def started(folder, script, *options, **more):
    command = [sys.executable, "-m", "anynpu", "launch", "--log-dir", str(folder / "logs"), *options, str(script)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=environment, start_new_session=True, **{**quiet, **more})


def words_of_logs(folder, count, process):
    """What the ranks have written, once each has written a line."""
    logs = [folder / "logs" / f"rank_{rank}.log" for rank in range(count)]
    until = time.monotonic() + 60
    while not all(log.exists() and log.read_text(encoding="utf-8").endswith("\n") for log in logs):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.05)
    return [log.read_text(encoding="utf-8").split() for log in logs]


def has_ended(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def end_within(pids, seconds=5):
    until = time.monotonic() + seconds
    while not all(map(has_ended, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    return [pid for pid in pids if not has_ended(pid)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_ends_all_ranks_and_what_they_have_started(number, tmp_path):
    process = started(tmp_path, write(tmp_path, CHILDREN + "time.sleep(600)"), "-n", "2")
    pids = [list(map(int, words[1:])) for words in words_of_logs(tmp_path, 2, process)]
    process.send_signal(number)
    if number == signal.SIGKILL:  # nobody is left who could look after the children: ranks alone
        process.wait(timeout=60)
        assert end_within([rank for rank, _ in pids]) == []
        for _, child in pids:
            os.kill(child, signal.SIGKILL)
    else:
        assert process.wait(timeout=60) == 128 + number
        assert end_within([pid for pair in pids for pid in pair]) == []


def test_what_a_failed_rank_leaves_behind_is_ended(tmp_path):
    assert launched(tmp_path, write(tmp_path, CHILDREN + "sys.exit(3)"), "-n", "1") == 3
    assert end_within([int((tmp_path / "logs/rank_0.log").read_text(encoding="utf-8").split()[2])]) == []


DEAF = (
    "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('DEAF', flush=True)\ntime.sleep(600)\n"
)


def test_ranks_that_do_not_listen_are_killed(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(launch, "PATIENCE", 0.5)
    deaf = DEAF.replace("time.sleep", "import os, sys\nif os.environ['RANK'] == '0': sys.exit(5)\ntime.sleep")
    assert launched(tmp_path, write(tmp_path, deaf), "-n", "2") == 5
    err = capfd.readouterr().err
    assert "rank 1: ended by SIGKILL" in err and "rank 0 has failed: exit code 5" in err


def test_a_second_signal_does_not_wait(tmp_path):
    process = started(tmp_path, write(tmp_path, DEAF), "-n", "2")
    words_of_logs(tmp_path, 2, process)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 128 + signal.SIGINT
    assert time.monotonic() - start < launch.PATIENCE - 1


STEPS = """
import os, sys, time
rank = int(os.environ["RANK"])
for step in range(4):
    print(f"rank {rank} step {step}", flush=True)
    time.sleep(0.4)
sys.stdout.write("bar 10%\\r\x1b[32mbar 100%\x1b[0m\\r")
"""


def test_lines_tell_how_far_ranks_are(tmp_path, capfd):
    assert launched(tmp_path, write(tmp_path, STEPS), "-n", "2", "--progress", "0.1") == 0
    out, err = capfd.readouterr()
    assert "rank 0 step 3\n" in out and "rank 1 step" not in out
    lines = [line for line in err.splitlines() if line.startswith("rank 1: ")]
    assert lines[0].startswith("rank 1: started on NPU 1, process ")
    assert lines[1:4] == [f"rank 1: rank 1 step {step}" for step in range(3)]
    assert lines[-1].startswith("rank 1: done after ") and len(lines) == len(set(lines))
    assert not [line for line in err.splitlines() if line.startswith("rank 0: rank 0")]  # it is shown anyway
    assert launched(tmp_path, tmp_path / "a script.py", "-n", "2", "--progress", "0") == 0
    assert "rank 1 step" not in capfd.readouterr().err


def screen(text):
    """What a terminal shows after `text`, as lines."""
    lines, row, column = [""], 0, 0
    for piece in re.findall(r"\x1b\[\d*[A-Zm]|\r|\n|[^\x1b\r\n]+", text):
        if piece == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif piece == "\r":
            column = 0
        elif piece == "\x1b[J":
            lines[row:] = [""]
        elif piece.startswith("\x1b"):
            row -= int(piece[2:-1]) if piece.endswith("A") else 0
        else:
            lines[row] = lines[row][:column] + piece + lines[row][column + len(piece) :]
            column += len(piece)
    return lines


def on_a_terminal(folder, rows, columns, *options):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = started(folder, write(folder, STEPS), *options, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    with contextlib.suppress(OSError):  # the last one has closed it
        while new := os.read(ours, 65536):
            text += new
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return text.decode()


def test_on_a_terminal_each_rank_has_a_line_that_stays(tmp_path):
    text = on_a_terminal(tmp_path, 24, 60, "-n", "2")
    assert re.search(r"rank 1  running \d s  rank 1 step 1\r?\n", text)
    shown = screen(text)
    assert shown[:6] == ["2 ranks, from -n", *[f"rank 0 step {step}" for step in range(4)], "bar 100%"]
    assert [re.sub(r"\d+\.\d", "T", line) for line in shown[6:9]] == [
        "rank 0  done after T s",
        "rank 1  done after T s",
        f"2 ranks, T s; logs in {tmp_path / 'logs'}",
    ]
    few = on_a_terminal(tmp_path, 4, 30, "-n", "4")
    assert "… and 3 ranks more, 3 of them" in few and "rank 1  running" not in few
    assert max(len(line) for line in few.splitlines() if "running" in line) < 30 + len("\x1b[2A\r\x1b[J")


def template_2(devices):
    instances = [{"pod_name": f"p{d}", "server_id": "s", "devices": [{"device_id": str(d)}]} for d in devices]
    return json.dumps({"status": "completed", "group_list": [{"instance_list": instances}]})


def test_in_template_2_rank_id_is_the_pod(tmp_path, monkeypatch, capfd):
    (tmp_path / "table.json").write_text(template_2([5, 4]), encoding="utf-8")
    monkeypatch.setenv("RANK_TABLE_FILE", str(tmp_path / "table.json"))
    assert launched(tmp_path, write(tmp_path, SHOW)) == 0
    assert [(seen(tmp_path, r)["RANK_ID"], seen(tmp_path, r)["ASCEND_DEVICE_ID"]) for r in (0, 1)] == [
        ("p4", "4"),
        ("p5", "5"),
    ]
    assert f"2 ranks, from RANK_TABLE_FILE {tmp_path / 'table.json'}" in capfd.readouterr().err


CM = {"CM_CHIEF_IP": "10.0.0.1", "CM_CHIEF_PORT": "6000", "CM_CHIEF_DEVICE": "0", "CM_WORKER_SIZE": "2"}


def test_the_variables_of_a_chief_say_how_many_ranks(tmp_path, monkeypatch, capfd):
    for name, value in CM.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("RANK_SIZE", "7")  # must not stand beside them
    assert launched(tmp_path, write(tmp_path, SHOW)) == 0
    for rank in range(2):
        saw = seen(tmp_path, rank)
        assert (saw["chief"], saw["RANK"], saw["RANK_ID"], saw["RANK_SIZE"]) == ("10.0.0.1", str(rank), None, None)
    assert "2 ranks, from CM_CHIEF_IP" in capfd.readouterr().err
    assert launched(tmp_path, tmp_path / "a script.py", "-n", "1") == 0
    assert seen(tmp_path, 0)["chief"] is None and seen(tmp_path, 0)["RANK_SIZE"] == "1"
    assert "from -n; CM_CHIEF_IP of the environment left out" in capfd.readouterr().err
    monkeypatch.setenv("CM_CHIEF_DEVICE", "2")
    assert launched(tmp_path, tmp_path / "a script.py") == 1
    assert "CM_CHIEF_DEVICE is 2, but CM_WORKER_SIZE is 2" in capfd.readouterr().err
    monkeypatch.setenv("CM_CHIEF_PORT", "many")
    assert launched(tmp_path, tmp_path / "a script.py") == 1
    assert "CM_CHIEF_PORT is 'many'" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ([], "how many ranks?"),
        (["-n", "0"], "how many ranks?"),
        (["-n", "65"], "-n is 65, but there are 8 NPUs"),
        (["--rank-table", "TABLE"], "server_list[0]: 'server_id' is missing"),
        (["--rank-table", "NOWHERE"], "cannot be opened"),
        (["-n", "3", "--rank-table", "GOOD"], "-n is 3, but"),
        (["--rank-table", "TWO"], "several servers (a, b)"),
    ],
)
def test_what_makes_no_sense_is_told(options, text, tmp_path, capsys):
    (tmp_path / "table.json").write_text('{"status": "completed", "server_list": [{"device": [{}]}]}', encoding="utf-8")
    good = {"status": "completed", "server_list": [{"server_id": "a", "device": [{"device_id": "0", "rank_id": "0"}]}]}
    (tmp_path / "good.json").write_text(json.dumps(good), encoding="utf-8")
    second = {"server_id": "b", "device": [{"device_id": "0", "rank_id": "1"}]}
    (tmp_path / "two.json").write_text(
        json.dumps({**good, "server_list": [*good["server_list"], second]}), encoding="utf-8"
    )
    names = {name.upper(): str(tmp_path / f"{name}.json") for name in ("table", "good", "two", "nowhere")}
    assert launched(tmp_path, write(tmp_path, SHOW), *[names.get(each, each) for each in options]) == 1
    assert text in capsys.readouterr().err
