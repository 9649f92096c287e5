# SPDX-License-Identifier: Apache-2.0
"""anynpu launch --hosts, from this machine through an agent that does what ssh does."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHOW = """
import os, socket, sys, time
from pathlib import Path
table = Path(os.environ["RANK_TABLE_FILE"])
print("SAW", os.environ["RANK"], socket.gethostname(), socket.gethostbyname(socket.gethostname()),
      os.environ["MASTER_ADDR"], table.exists(), os.getpid() < 1000, flush=True)
if len(sys.argv) > 2 and os.environ["RANK"] == sys.argv[2]:
    sys.exit(7)
time.sleep(float(sys.argv[1]))
"""
GLOO = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
x = torch.ones(2) * (dist.get_rank() + 1)
dist.all_reduce(x)
print("SUM", x.tolist(), flush=True)
dist.destroy_process_group()
"""


@pytest.fixture
def launch(hosts, tmp_path):
    """launch(cluster, script, arguments…): the launcher, which runs on none of the hosts."""
    started = []

    def start(cluster, script, *arguments, ranks=4):
        (tmp_path / "script.py").write_text(script, encoding="utf-8")
        named = ",".join(f"{host.name}={host.address}" for host in cluster)
        words = ["--hosts", named, "-n", str(ranks), "--agent", str(cluster.agent(tmp_path)), "--no-transfer"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
        command = [sys.executable, "-m", "anynpu", "launch", *words, "script.py", *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append(subprocess.Popen(command, cwd=tmp_path, env=environment, text=True, **pipes))
        return started[-1]

    yield start
    for launcher in started:
        if launcher.poll() is None:
            launcher.kill()
            launcher.communicate()


def wait_for_ranks(folder, count):
    logs = [folder / "launch_logs" / f"rank_{rank}.log" for rank in range(count)]
    until = time.monotonic() + 60
    while not all(log.exists() and "SAW" in log.read_text(encoding="utf-8") for log in logs):
        assert time.monotonic() < until
        time.sleep(0.02)


def nothing_runs(host):
    """On that host, besides the shell that holds it; and no file of ours is left there."""
    until = time.monotonic() + 10
    while found := [
        name
        for name in host.output("sh", "-c", "cat /proc/[0-9]*/comm 2>/dev/null || true").split()
        if "python" in name
    ]:
        assert time.monotonic() < until, found
        time.sleep(0.05)
    return host.output("sh", "-c", "ls /tmp | grep anynpu-launch || true") == ""


@pytest.mark.few
@pytest.mark.promise("`anynpu launch --hosts` starts ranks on several hosts, and stops all when one fails")
def test_ranks_start_on_all_hosts(hosts, launch, tmp_path):
    two = hosts(2)
    launcher = launch(two, SHOW, 0.1, ranks=3)
    out, err = launcher.communicate(timeout=60)
    assert launcher.returncode == 0, err
    said = [(tmp_path / f"launch_logs/rank_{rank}.log").read_text(encoding="utf-8").split() for rank in range(3)]
    places = [("node0", "10.0.0.1"), ("node0", "10.0.0.1"), ("node1", "10.0.0.2")]
    assert said == [["SAW", str(r), *places[r], "10.0.0.1", "True", "True"] for r in range(3)]
    assert "rank 2: started on NPU 0 of node1, process " in err and "SAW 0 " in out and "SAW 1 " not in out
    assert all(map(nothing_runs, two))
    failing = launch(two, SHOW, 600, 2, ranks=4)
    assert failing.wait(60) == 7
    err = failing.stderr.read()
    assert "rank 2 on host node1 has failed: exit code 7" in err and "rank 0: ended by SIGTERM" in err
    assert all(map(nothing_runs, two))


def test_ranks_meet(hosts, launch, tmp_path):
    """By the address and the port that the launcher has found."""
    launcher = launch(hosts(3), GLOO, ranks=6)
    _, err = launcher.communicate(timeout=120)
    assert launcher.returncode == 0, err
    for rank in range(6):
        assert "SUM [21.0, 21.0]" in (tmp_path / f"launch_logs/rank_{rank}.log").read_text(encoding="utf-8")


COLLECTIVE = """
import os, signal, time, torch, torch.distributed as dist
torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("hccl")
x = torch.ones(3).npu() * (dist.get_rank() + 1)
dist.all_reduce(x)
print("SAW", x.tolist(), flush=True)
if os.environ["RANK"] == "2":
    os.kill(os.getpid(), signal.SIGKILL)
dist.all_reduce(x)
print(x.tolist())
"""


def test_ranks_of_the_table_that_was_written_meet(hosts, launch, tmp_path):
    """And one that is killed while the others wait for it is named, with its host."""
    two = hosts(2)
    launcher = launch(two, COLLECTIVE)
    _, err = launcher.communicate(timeout=120)
    for rank in range(4):
        assert "SAW [10.0, 10.0, 10.0]" in (tmp_path / f"launch_logs/rank_{rank}.log").read_text(encoding="utf-8")
    assert launcher.returncode == 128 + signal.SIGKILL
    assert "rank 2 on host node1 has failed: ended by SIGKILL" in err, err
    assert all(map(nothing_runs, two))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_the_launcher_is_that_of_the_ranks(number, hosts, launch, tmp_path):
    three = hosts(3)
    launcher = launch(three, SHOW, 600, ranks=6)
    wait_for_ranks(tmp_path, 6)
    launcher.send_signal(number)
    assert launcher.wait(30) == (-number if number == signal.SIGKILL else 128 + number)
    assert all(map(nothing_runs, three))


def test_a_killed_host_is_named(hosts, launch, tmp_path):
    three = hosts(3)
    launcher = launch(three, SHOW, 600, ranks=3)
    wait_for_ranks(tmp_path, 3)
    begin = time.monotonic()
    three[1].kill()
    _, err = launcher.communicate(timeout=60)
    assert launcher.returncode == 255 and time.monotonic() - begin < 10
    assert "rank 1 on host node1 has failed: lost after " in err and "rank 2: ended by SIGTERM" in err
    assert nothing_runs(three[0]) and nothing_runs(three[2])


def test_a_host_that_is_not_there_is_named(hosts, launch):
    two = hosts(2)
    two[1].kill()
    launcher = launch(two, SHOW, 1)
    out, err = launcher.communicate(timeout=60)
    assert launcher.returncode == 1 and "SAW" not in out
    assert "host node1 (10.0.0.2): its agent " in err and nothing_runs(two[0])
