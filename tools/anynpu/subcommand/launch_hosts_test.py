# SPDX-License-Identifier: Apache-2.0
"""anynpu launch --hosts with an agent that starts all hosts' parts here; tests/hosts has it between hosts."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anynpu import command
from anynpu.ranks import remote

TWO = "one=10.0.0.1,two=10.0.0.2"
AGENT = """#!/bin/sh
host=$1
shift
unset SLURM_NTASKS CM_CHIEF_IP
{before}
exec sh -c "$*"
"""
SHOW = """
import json, os, sys
from pathlib import Path
names = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT", "RANK_ID",
         "RANK_SIZE", "DEVICE_ID", "ASCEND_DEVICE_ID", "JOB_ID", "MINE", "SLURM_NTASKS"]
print("SAW " + json.dumps({**{name: os.environ.get(name) for name in names}, "arguments": sys.argv[1:],
      "table": json.loads(Path(os.environ["RANK_TABLE_FILE"]).read_text()), "folder": os.getcwd()}))
"""


@pytest.fixture
def start(tmp_path, monkeypatch):
    """start(script, *options, before=shell): launches it; the agent runs `before` first, which knows the $host."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(each for each in sys.path if each))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def words(script, *options, before="", hosts=TWO, arguments=()):
        Path("a script.py").write_text(script, encoding="utf-8")
        Path("agent").write_text(AGENT.format(before=before), encoding="utf-8")
        Path("agent").chmod(0o755)
        named = ["--hosts", hosts, "--agent", str(tmp_path / "agent"), "--log-dir", str(tmp_path / "logs")]
        return ["launch", *named, *options, "a script.py", *arguments]

    return words


def seen(rank):
    text = Path(f"logs/rank_{rank}.log").read_text(encoding="utf-8")
    return json.loads(next(line for line in text.splitlines() if line.startswith("SAW "))[4:])


def left(folder):
    """Processes and rank tables of a launch."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"TMPDIR={folder}\0".encode() in path.read_bytes() and int(path.parts[2]) != os.getpid():
                found.append((path.parts[2], (path.parent / "cmdline").read_bytes()))
        except OSError:
            pass
    return [each for each in found if each[1]] + list(Path(folder).glob("anynpu-launch-*"))


def none_left(folder, seconds=10):
    until = time.monotonic() + seconds
    while found := left(folder):
        assert time.monotonic() < until, found
        time.sleep(0.05)
    return True


def test_each_rank_knows_its_place(start, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("MINE", "carried")
    monkeypatch.setenv("SLURM_NTASKS", "of this host")
    monkeypatch.setenv("RANK_ID", "7")
    assert command.main(start(SHOW, "-n", "5", arguments=("--epochs", "a b"))) == 0
    ranks = [seen(rank) for rank in range(5)]
    for rank, saw in enumerate(ranks):
        assert saw["RANK"] == saw["RANK_ID"] == str(rank) and saw["WORLD_SIZE"] == saw["RANK_SIZE"] == "5"
        assert saw["LOCAL_RANK"] == saw["DEVICE_ID"] == saw["ASCEND_DEVICE_ID"] == str(rank % 3)
        assert (saw["GROUP_RANK"], saw["LOCAL_WORLD_SIZE"]) == (("0", "3") if rank < 3 else ("1", "2"))
        assert (saw["MASTER_ADDR"], saw["MINE"], saw["SLURM_NTASKS"]) == ("10.0.0.1", "carried", None)
        assert saw["arguments"] == ["--epochs", "a b"] and saw["folder"] == str(tmp_path)
    assert len({saw["MASTER_PORT"] for saw in ranks}) == len({saw["JOB_ID"] for saw in ranks}) == 1
    servers = ranks[4]["table"]["server_list"]
    assert [(s["server_id"], [d["rank_id"] for d in s["device"]]) for s in servers] == [
        ("10.0.0.1", ["0", "1", "2"]),
        ("10.0.0.2", ["3", "4"]),
    ]
    assert json.loads(Path("logs/rank_table.json").read_text(encoding="utf-8")) == ranks[0]["table"]
    out, err = capfd.readouterr()
    assert '"RANK": "0"' in out and '"RANK": "1"' not in out
    assert "5 ranks, from --hosts: 3 on one (10.0.0.1), 2 on two (10.0.0.2)" in err
    assert "rank 4: started on NPU 1 of two, process" in err and "rank 4: done" in err
    assert none_left(tmp_path)


def test_when_a_rank_fails_all_are_stopped_on_all_hosts(start, tmp_path, capfd):
    script = (
        "import os, sys, time\nif os.environ['RANK'] == '2':\n    print('the reason'); sys.exit(7)\ntime.sleep(600)"
    )
    begin = time.monotonic()
    assert command.main(start(script, "-n", "4")) == 7
    assert time.monotonic() - begin < 30
    err = capfd.readouterr().err
    assert "rank 0: ended by SIGTERM" in err and "rank 3: ended by SIGTERM" in err
    assert "rank 2 on host two has failed: exit code 7" in err and err.endswith("rank_2.log:\nthe reason\n")
    assert none_left(tmp_path)


def test_the_host_of_the_rank_that_others_wait_for_is_looked_at(start, capfd, monkeypatch):
    """Processes of hosts may have one number: here all have."""
    script = """
import os, signal, sys, time
rank = int(os.environ["RANK"])
if rank == 1:
    print(f"EI0002: rank 2 (host two, device 0, process {sys.argv[1]}) has ended", flush=True)
    os._exit(1)
time.sleep(600)
"""
    launched = start(script, "-n", "3", hosts="one=10.0.0.1:2,two=10.0.0.2:1", arguments=("4711",))
    hear = remote.Member.hear

    def renumbered(self, said):
        changed = {"pid": 4711} if "started" in said else {"host": self.place.name} if "host" in said else {}
        hear(self, {**said, **changed})

    monkeypatch.setattr(remote.Member, "hear", renumbered)
    assert command.main(launched) == 1
    err = capfd.readouterr().err
    assert "rank 1 on host one has failed: exit code 1" in err and "it has waited for rank 2: see " in err


STOPS = """
import os, signal, time
from pathlib import Path
print("PID", os.getpid(), flush=True)
while not all(Path(f"logs/rank_{rank}.log").read_text() for rank in (0, 1)):  # the launcher knows that all have started
    time.sleep(0.02)
if os.environ["RANK"] == "1":
    os.kill(os.getppid(), signal.SIGSTOP)
"""
WAITS = "import os, time\nprint('PID', os.getpid(), flush=True)\ntime.sleep(600)\n"


def running(tmp_path, words, count, **more):
    """The launcher as a process, and its ranks' process ids once all have written."""
    launcher = subprocess.Popen([sys.executable, "-m", "anynpu", *words], stderr=subprocess.PIPE, text=True, **more)
    logs = [tmp_path / "logs" / f"rank_{rank}.log" for rank in range(count)]
    until = time.monotonic() + 60
    while not all(log.exists() and log.read_text(encoding="utf-8").endswith("\n") for log in logs):
        assert time.monotonic() < until and launcher.poll() is None
        time.sleep(0.05)
    return launcher, [int(log.read_text(encoding="utf-8").split()[1]) for log in logs]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_end_of_the_launcher_is_that_of_the_ranks(number, start, tmp_path):
    launcher, _ = running(tmp_path, start(WAITS, "-n", "3"), 3, start_new_session=True)
    launcher.send_signal(number)
    assert launcher.wait(60) == (-number if number == signal.SIGKILL else 128 + number)
    assert none_left(tmp_path)


def test_ctrl_c_reaches_agents_too_and_does_no_harm(start, tmp_path):
    """A terminal sends it to the whole group."""
    launcher, _ = running(tmp_path, start(WAITS, "-n", "2"), 2, start_new_session=True)
    os.killpg(launcher.pid, signal.SIGINT)
    _, err = launcher.communicate(timeout=60)
    assert launcher.returncode == 128 + signal.SIGINT
    assert "rank 0: ended by SIGTERM" in err and "lost" not in err and "Traceback" not in err
    assert none_left(tmp_path)


def test_a_lost_host_is_named_and_ends_the_others(start, tmp_path):
    """Its member is killed, and with it its ranks; nobody could say more of them."""
    launcher, pids = running(tmp_path, start(WAITS, "-n", "4"), 4)
    parent = int(Path(f"/proc/{pids[2]}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])
    os.kill(parent, signal.SIGKILL)
    _, err = launcher.communicate(timeout=60)
    assert launcher.returncode == 255
    assert "rank 2 on host two has failed: lost after " in err or "rank 3 on host two has failed: lost after " in err
    assert re.search("/agent has ended with (SIGKILL|exit code 137)", err) and "rank 0: ended by SIGTERM" in err
    (tmp_path / "anynpu-launch-1.json").touch()  # of a process that lives
    assert command.main(start("pass", "-n", "2")) == 0  # removes what the killed member has left
    assert [path.name for path in tmp_path.glob("anynpu-launch-*")] == ["anynpu-launch-1.json"]
    (tmp_path / "anynpu-launch-1.json").unlink()
    assert none_left(tmp_path)


def test_a_host_without_a_sign_of_life_is_lost(start, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(remote, "SILENCE", 4.0)
    script = STOPS + "time.sleep(600)\n"
    assert command.main(start(script, "-n", "2")) == 255
    err = capfd.readouterr().err
    assert "rank 1 on host two has failed: lost after " in err and "host two (10.0.0.2): no sign of life for 4 s" in err
    for found in left(tmp_path):  # a host that hangs ends its ranks when it wakes
        if isinstance(found, tuple):
            with contextlib.suppress(ProcessLookupError):  # one that woke before has ended it
                os.kill(int(found[0]), signal.SIGCONT)
    assert none_left(tmp_path, 20)


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("[ $host = two ] && { echo 'no route to host' >&2; exit 255; }", "its agent"),
        ("[ $host = two ] && { echo 'Welcome to two'; exit 3; }", "with exit code 3; it was called as: "),
        ("[ $host = two ] && rm -f 'a script.py'", ": there is no file a script.py on host"),
    ],
)
def test_a_host_that_cannot_take_part_is_named(before, told, start, tmp_path, capfd):
    assert command.main(start(SHOW, "-n", "2", before=before)) == 1
    out, err = capfd.readouterr()
    assert told in err and "SAW" not in out, err
    assert ("no route to host" in err) == ("route" in before) and ("two: Welcome to two" in err) == ("Welc" in before)
    assert none_left(tmp_path)


def test_a_host_without_enough_npus_is_named(start, tmp_path, capfd):
    assert command.main(start(SHOW, hosts="one=10.0.0.1:1,two=10.0.0.2:65")) == 1
    err = capfd.readouterr().err
    assert "host two (10.0.0.2): the number of ranks on host" in err and "is 65, but there are 8 NPUs" in err
    assert none_left(tmp_path)


def test_a_host_with_another_version_is_named(start, monkeypatch, capfd):
    monkeypatch.setattr("anynpu.library.version.anynpu", lambda: "9.9.9")  # here; members are other processes
    assert command.main(start(SHOW, "-n", "2")) == 1
    assert "and this one 9.9.9; install the same on all hosts" in capfd.readouterr().err


def test_a_host_that_does_not_answer_is_named(start, monkeypatch, capfd):
    monkeypatch.setattr(remote, "CONNECT", 1.0)
    assert command.main(start(SHOW, "-n", "2", before="[ $host = two ] && exec cat")) == 1
    err = capfd.readouterr().err
    assert "two (10.0.0.2) did not answer within 1 s; see whether this ends: " in err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--agent", "/no/such/agent"], "the agent /no/such/agent cannot be started: No such file or directory"),
        (["--rank-table", "t.json"], "--hosts writes a rank table, and --rank-table gives one"),
    ],
)
def test_what_makes_no_sense_is_told(options, told, start, capsys):
    assert command.main(start(SHOW, "-n", "2", *options)) == 1
    assert told in capsys.readouterr().err


def test_much_output_arrives_whole(start, tmp_path):
    """More than pipes hold, with bytes that are no text."""
    script = "import os, sys\nfor i in range(3000):\n    os.write(1, bytes(range(256)) * 4 + b'%d\\n' % i)\n"
    assert command.main(start(script, "-n", "2")) == 0
    wanted = b"".join(bytes(range(256)) * 4 + b"%d\n" % i for i in range(3000))
    assert [(tmp_path / f"logs/rank_{rank}.log").read_bytes() == wanted for rank in range(2)] == [True, True]
