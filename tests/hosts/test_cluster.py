# SPDX-License-Identifier: Apache-2.0
"""The hosts that the other tests run on are apart where real ones are, and their faults are what they are called."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cluster
import pytest

BOOT_ID = "/proc/sys/kernel/random/boot_id"
LISTEN = """
import socket, sys
server = socket.create_server((sys.argv[1], 5000))
print("listening", flush=True)
link, _ = server.accept()
got = 0
while piece := link.recv(1 << 16):
    got += len(piece)
link.sendall(str(got).encode())
"""
SEND = """
import socket, sys
link = socket.create_connection((sys.argv[1], 5000), timeout=5)
link.settimeout(60)
link.sendall(b"x" * int(sys.argv[2]))
link.shutdown(socket.SHUT_WR)
print(link.recv(100).decode())
"""


def knock(one, other):
    """Whether a connection is possible."""
    script = f"import socket; socket.create_connection(('{other.address}', 5000), timeout=0.5).close()"
    return one.python("-c", script).wait(20) == 0


def listening(host):
    process = host.python("-c", "import socket, time; s = socket.create_server(('', 5000)); print('up', flush=True);"
                          "time.sleep(600)")  # fmt: skip
    assert process.stdout.readline() == "up\n"
    return process


def sent(one, other, size):
    """Seconds that so many bytes take from one to the other."""
    server = other.python("-c", LISTEN, other.address)
    assert server.stdout.readline() == "listening\n"
    begin = time.monotonic()
    client = one.python("-c", SEND, other.address, size)
    assert client.communicate(timeout=120)[0].strip() == str(size)
    assert server.wait(20) == 0
    return time.monotonic() - begin


@pytest.mark.few
def test_hosts_share_what_real_ones_do_and_no_more(hosts, tmp_path):
    """And each of them has what a program here looks at."""
    three = hosts(3)
    for what in (["hostname"], ["cat", BOOT_ID], ["hostname", "-i"]):
        seen = [host.output(*what).strip() for host in three]
        assert len({*seen, lines(what)}) == 4, seen
    assert three[0].output("cat", BOOT_ID) == three[0].output("cat", BOOT_ID)
    for folder in ("/tmp", "/dev/shm", "/run"):
        three[0].output("touch", f"{folder}/mine")
        assert "mine" not in three[1].output("ls", folder).split() + os.listdir(folder)
    (tmp_path / "shared").write_text("seen\n", encoding="utf-8")
    assert [host.output("cat", str(tmp_path / "shared")) for host in three] == ["seen\n"] * 3
    for kind in ("net", "mnt", "pid", "uts", "ipc"):
        spaces = [host.output("readlink", f"/proc/self/ns/{kind}") for host in three]
        assert len({*spaces, os.readlink(f"/proc/self/ns/{kind}") + "\n"}) == 4
    assert three[0].output("ls", "/sys/class/net").split() == ["eth0", "lo"]
    assert Path("/sys/fs/cgroup").exists() and three[0].output("ls", "/sys/fs/cgroup")
    assert three[1].output("cat", "/etc/hosts").splitlines()[1:] == [f"10.0.0.{i + 1} node{i}" for i in range(3)]
    pids = three[0].output("sh", "-c", "ls /proc | grep -c '^[0-9]'")
    assert int(pids) < 10
    clocks = [float(host.output("cat", "/proc/uptime").split()[0]) for host in three]
    assert 90_000 < clocks[1] - clocks[0] < 110_000


def lines(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_packages_are_there(hosts):
    one = hosts(1)[0]
    done = one.python("-c", "import numpy, sys; print(sys.prefix)").communicate(timeout=60)[0]
    assert done.strip() == sys.prefix


@pytest.mark.few
def test_a_cut_cuts_and_heals(hosts):
    three = hosts(3)
    listening(three[1]), listening(three[2])
    assert knock(three[0], three[1]) and knock(three[1], three[2]) and knock(three[0], three[2])
    three.cut(three[1])
    assert not knock(three[0], three[1]) and not knock(three[1], three[2]) and knock(three[0], three[2])
    three.heal()
    assert knock(three[0], three[1]) and knock(three[1], three[2])


def test_a_port_is_closed(hosts):
    two = hosts(2)
    listening(two[1])
    two[1].refuse(5000)
    assert not knock(two[0], two[1])


def test_a_dead_end_leads_nowhere(hosts):
    two = hosts(2, second_interface=True)
    listening(two[1])
    assert knock(two[0], two[1])
    script = "import socket; socket.create_connection(('10.0.1.2', 5000), timeout=1)"
    assert two[0].python("-c", script).wait(20) != 0
    assert two[0].output("ls", "/sys/class/net").split() == ["eth0", "eth1", "lo"]


def test_bytes_are_counted(hosts):
    """With heads of packets and answers, but nothing else of that size."""
    three = hosts(3)
    before = [host.traffic() for host in three]
    sent(three[0], three[1], 10_000_000)
    (_, out), (into, _), (idle, _) = (
        [now - then for now, then in zip(host.traffic(), old, strict=True)]
        for host, old in zip(three, before, strict=True)
    )
    assert 10_000_000 < out < 10_500_000 and 10_000_000 < into < 10_500_000 and idle < 50_000


def test_a_slow_wire_is_slow(hosts):
    two = hosts(2)
    assert sent(two[0], two[1], 2_500_000) < 1
    two.slow_down("10mbit")
    assert 1.5 < sent(two[0], two[1], 2_500_000) < 6  # 2 s at 10 Mbit/s, less the burst, with the process's start


def test_packets_are_lost_and_sent_again(hosts):
    two = hosts(2)
    two.lose(10)
    sent(two[0], two[1], 1_000_000)
    retransmitted = two[0].output("sh", "-c", "grep ^Tcp: /proc/net/snmp")
    names, values = (row.split() for row in retransmitted.splitlines())
    assert int(dict(zip(names, values, strict=True))["RetransSegs"]) > 5


def test_clocks_are_apart(hosts):
    two = hosts(2)
    two[1].set_clock("+1d")
    script = "import time; print(time.time(), time.monotonic())"
    (early, _), (late, since_boot) = (
        map(float, host.python("-c", script).communicate(timeout=20)[0].split()) for host in two
    )
    assert 86_000 < late - early < 87_000
    assert abs(since_boot - float(two[1].output("cat", "/proc/uptime").split()[0])) < 5


def test_signals_reach_the_program(hosts):
    one = hosts(1)[0]
    process = listening(one)
    process.send_signal(signal.SIGSTOP)
    assert cluster.is_stopped(process.program())
    process.send_signal(signal.SIGCONT)
    assert not cluster.is_stopped(process.program())
    process.send_signal(signal.SIGSTOP)
    process.kill()
    assert process.wait(10) == -signal.SIGKILL
    names = one.output("sh", "-c", "cat /proc/[0-9]*/comm 2>/dev/null || true").split()
    assert "bash" in names and not [name for name in names if name.startswith("python")]


@pytest.mark.few
def test_a_host_is_killed_with_all_it_runs(hosts):
    two = hosts(2)
    running = [listening(host) for host in two]
    background = two[1].start("sh", "-c", "sleep 600 & echo here; wait")
    assert background.stdout.readline() == "here\n"
    two.power_off(two[1])
    assert running[1].wait(10) == background.wait(10) == -signal.SIGKILL
    assert running[0].poll() is None and not knock(two[0], two[1])


HOLDS = """
import sys, time
import cluster
made = cluster.Cluster(2, [sys.argv[1]])
process = made[0].start("sleep", "600")
print(" ".join(str(each.pid) for each in (made.wire, process, *[host.holder for host in made])), flush=True)
time.sleep(600)
"""


def test_nothing_remains_when_the_tests_are_killed(hosts, tmp_path):
    hosts(1)  # or is skipped
    before = lines(["ip", "link"]), lines(["nft", "list", "tables"]), lines(["mount"])
    tests = subprocess.Popen(
        [sys.executable, "-c", HOLDS, tmp_path], cwd=cluster.HERE, stdout=subprocess.PIPE, text=True
    )
    pids = [int(word) for word in tests.stdout.readline().split()]
    assert len(pids) == 4
    tests.kill()
    tests.wait()
    until = time.monotonic() + 10
    while left := [pid for pid in pids if Path(f"/proc/{pid}/ns/net").exists() and not zombie(pid)]:
        assert time.monotonic() < until, left
        time.sleep(0.02)
    assert before == (lines(["ip", "link"]), lines(["nft", "list", "tables"]), lines(["mount"]))


def zombie(pid):
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return True


def test_an_agent_is_called_as_ssh_is(hosts, tmp_path):
    two = hosts(2)
    agent = two.agent(tmp_path)
    assert lines([agent, "node1", "hostname", "&&", "echo", "'$HOME'", '"$HOME"']) == "node1\n$HOME /root"
    assert lines([agent, two[0].address, "hostname"]) == "node0"
    assert subprocess.run([agent, "node7", "true"], capture_output=True).returncode == 255
    assert subprocess.run([agent, "node1", "exit 7"]).returncode == 7
