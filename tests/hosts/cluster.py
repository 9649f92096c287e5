# SPDX-License-Identifier: Apache-2.0
"""Hosts on this machine that share nothing a real host would not, and the wire between them.

Each host is a set of namespaces with its own address, name, processes, clock since boot, /tmp, /dev/shm and /run. They
have no names in the file system: processes hold them, which end when their input does, so also when the tests are
killed. The wire, a bridge, lies in a network namespace of its own; packets are dropped and counted there."""

import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SPACES = ("net", "mnt", "pid", "uts", "ipc", "time")
TOOLS = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2", "tc": "iproute2", "nft": "nftables"}
# What belongs to the process that tests, or would tell a rank who it is.
DROPPED = ("XDG_", "TMPDIR", "RANK", "WORLD_", "LOCAL_", "MASTER_", "CM_", "OMPI_", "PMIX_", "SLURM_", "JOB_ID")
TRY = "mount -t proc proc /proc && mount -t sysfs sysfs /sys && hostname x && nft add table x"


def refusal():
    """Why there can be no hosts here; None where there can."""
    for tool, package in TOOLS.items():
        if shutil.which(tool) is None:
            return f"{tool} is not installed (Debian package {package})"
    command = ["unshare", *Host.UNSHARED, "sh", "-c", TRY]
    tried = subprocess.run(command, capture_output=True, text=True, timeout=30)
    if tried.returncode == 0:
        return None
    return "namespaces may not be made here: " + (tried.stderr.strip().splitlines() or ["no reason given"])[-1]


def lines_of(command, **more):
    """What a command prints; its own words where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def is_stopped(pid):
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "T"


class Process(subprocess.Popen):
    """A program on a host, as any other process; signals go to it and not to nsenter, which waits for it."""

    def program(self):
        """Its process id here; None once it has ended."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        try:
            found = children.read_text(encoding="ascii").split()
        except OSError:
            return None
        return int(found[0]) if found else None

    def send_signal(self, number):
        if self.poll() is not None:
            return
        program = self.program()
        os.kill(self.pid if program is None else program, number)
        # nsenter stops itself when it sees its child stop; it must not do so later than we wake it.
        if number == signal.SIGSTOP:
            until = time.monotonic() + 20
            while not is_stopped(self.pid) and time.monotonic() < until:
                time.sleep(0.002)
        else:
            os.kill(self.pid, signal.SIGCONT)


class Host:
    UNSHARED = ("--net", "--mount", "--pid", "--uts", "--ipc", "--time", "--fork", "--kill-child=KILL")

    def __init__(self, number, name, address, table, folders):
        self.number, self.name, self.address = number, name, address
        self.environment = {}  # of all its programs, on top of theirs
        self.clock = 100_000 * (number + 1)  # hosts have not started at one time
        own = ["--monotonic", str(self.clock), "--boottime", str(self.clock)]
        command = ["unshare", *self.UNSHARED, *own, HERE / "start_host.sh", name, str(uuid.uuid4()), *folders]
        self.holder = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "HOST_TABLE": table},
        )  # fmt: skip
        if self.holder.stdout.readline() != "ready\n":
            raise RuntimeError(f"{name} did not start")

    def space(self, kind):
        made_for_children = kind in ("pid", "time")
        return f"/proc/{self.holder.pid}/ns/{kind}{'_for_children' if made_for_children else ''}"

    def entering(self, folder="/"):
        """The words before a command that make it one of this host."""
        options = {"mnt": "mount"}
        return ["nsenter", *[f"--{options.get(kind, kind)}={self.space(kind)}" for kind in SPACES], f"--wdns={folder}"]

    def variables(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED)}
        return {**kept, "HOSTNAME": self.name, **self.environment, **{k: str(v) for k, v in more.items()}}

    def words(self, *command):
        """The command as one of this host, for those who start it with our environment."""
        theirs = {name for name in os.environ if name.startswith(DROPPED)}
        without = [word for name in sorted(theirs) for word in ("-u", name)]
        return [*self.entering(), "env", *without, f"HOSTNAME={self.name}", *map(str, command)]

    def start(self, *command, folder=ROOT, environment=None, **more):
        """A process; its output is read through a pipe unless `more` says otherwise."""
        usual = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        words = [*self.entering(folder), *map(str, command)]
        return Process(words, env=self.variables(**(environment or {})), **{**usual, **more})

    def python(self, *arguments, **more):
        return self.start(sys.executable, *arguments, **more)

    def output(self, *command, **more):
        return lines_of([*self.entering(), *command], env=self.variables(), **more)

    def traffic(self):
        """(received, sent): bytes of its side of the wire so far."""
        rows = Path(f"/proc/{self.holder.pid}/net/dev").read_text(encoding="ascii").splitlines()
        [fields] = [row.split(":")[1].split() for row in rows if row.strip().startswith("eth0:")]
        return int(fields[0]), int(fields[8])

    def set_clock(self, offset):
        """What starts from now on sees a wall clock that is off, "+1d", by Debian's faketime. The clock since boot is
        left alone: waits go by it."""
        found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
        if not found:
            raise RuntimeError("libfaketimeMT.so.1 is not installed (Debian package faketime)")
        self.environment |= {"LD_PRELOAD": str(found[0]), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def refuse(self, port):
        """Nobody reaches this port, or those of a range, "60000-60015"; packets to it vanish."""
        self.output("nft", "add", "table", "inet", "closed")
        hook = "{ type filter hook input priority 0; }"
        self.output("nft", "add", "chain", "inet", "closed", "input", hook)
        self.output("nft", "add", "rule", "inet", "closed", "input", "tcp", "dport", str(port), "drop")

    def kill(self):
        """All its processes at once, without a word: the system closes what they held."""
        self.holder.send_signal(signal.SIGKILL)
        self.holder.wait()

    def close(self):
        if self.holder.poll() is None:
            self.kill()
        self.holder.stdin.close()
        self.holder.stdout.close()


class Cluster:
    """`count` hosts on one wire. `folders` are seen by all, as on a shared disk, besides this repository."""

    def __init__(self, count, folders=(), second_interface=False):
        self.wire = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE)
        self.hosts = []
        self.folders = [ROOT, *map(Path, folders)]
        try:
            self.await_wire()
            self.on_wire("ip", "link", "add", "bridge", "type", "bridge")
            self.on_wire("ip", "link", "set", "bridge", "up")
            self.on_wire("nft", "add", "table", "bridge", "wire")
            self.on_wire("nft", "add", "chain", "bridge", "wire", "faults", "{ type filter hook forward priority 0; }")
            names = [(f"node{i}", f"10.0.0.{i + 1}") for i in range(count)]
            table = "\n".join(["127.0.0.1 localhost", *[f"{address} {name}" for name, address in names]])
            for number, (name, address) in enumerate(names):
                self.hosts.append(Host(number, name, address, table, self.folders))
                self.connect(self.hosts[-1])
                if second_interface:
                    self.add_dead_end(self.hosts[-1])
        except BaseException:
            self.close()
            raise

    def __getitem__(self, number):
        return self.hosts[number]

    def __iter__(self):
        return iter(self.hosts)

    def await_wire(self):
        """Until its process has left our namespace."""
        mine = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.wire.pid}/ns/net") == mine:
            if self.wire.poll() is not None:
                raise RuntimeError("the wire did not start")

    def on_wire(self, *command):
        return lines_of(["nsenter", f"--net=/proc/{self.wire.pid}/ns/net", *command])

    def connect(self, host):
        """Its eth0 is the far end of a port of the bridge."""
        port, peer = f"port{host.number}", ["peer", "name", "eth0", "netns", str(host.holder.pid)]
        self.on_wire("ip", "link", "add", port, "type", "veth", *peer)
        self.on_wire("ip", "link", "set", port, "master", "bridge")
        self.on_wire("ip", "link", "set", port, "up")
        host.output("ip", "address", "add", f"{host.address}/24", "dev", "eth0")
        host.output("ip", "link", "set", "eth0", "up")

    def add_dead_end(self, host):
        """An eth1 by which no other host is reached, though its address looks so."""
        end, peer = f"end{host.number}", ["peer", "name", "eth1", "netns", str(host.holder.pid)]
        self.on_wire("ip", "link", "add", end, "type", "veth", *peer)
        self.on_wire("ip", "link", "set", end, "up")
        host.output("ip", "address", "add", f"10.0.1.{host.number + 1}/24", "dev", "eth1")
        host.output("ip", "link", "set", "eth1", "up")

    def cut(self, host):
        """From now on nothing goes to this host or comes from it; both sides still see their cable."""
        for way in ("iifname", "oifname"):
            self.on_wire("nft", "add", "rule", "bridge", "wire", "faults", way, f"port{host.number}", "drop")

    def power_off(self, host):
        """It is gone without a word to anybody: no connection of it is closed."""
        self.cut(host)
        host.kill()

    def lose(self, percent):
        """So many of a hundred packets of all hosts vanish, drawn at random. A packet then is one of the wire, not
        the 64 KB that hosts otherwise hand over in one piece."""
        for host in self.hosts:
            host.output("ip", "link", "set", "dev", "eth0", "gso_max_segs", "1")
        rule = ["numgen", "random", "mod", "100", "<", str(percent), "drop"]
        self.on_wire("nft", "add", "rule", "bridge", "wire", "faults", *rule)

    def heal(self):
        """No packet is dropped any more."""
        self.on_wire("nft", "flush", "chain", "bridge", "wire", "faults")

    def slow_down(self, rate):
        """All hosts send at most so much: 10mbit."""
        for host in self.hosts:
            limit = ["tbf", "rate", rate, "burst", "64kb", "latency", "400ms"]
            host.output("tc", "qdisc", "replace", "dev", "eth0", "root", *limit)

    def agent(self, folder):
        """The path of a program that does what ssh does, called the same way: AGENT HOST COMMAND…"""
        path = Path(folder) / "agent"
        cases = "\n".join(
            f"  {host.name} | {host.address}) set -- {' '.join(host.entering())};;" for host in self.hosts
        )
        path.write_text(AGENT.format(cases=cases, path=os.environ["PATH"]), encoding="utf-8")
        path.chmod(0o755)
        return path

    def close(self):
        for host in self.hosts:
            host.close()
        self.wire.kill()
        self.wire.wait()
        self.wire.stdin.close()


# The words become one line for the shell of the other side, which starts at home with variables of its own.
AGENT = """#!/bin/sh
host=$1
shift
line=$*
case $host in
{cases}
  *) echo "agent: no host $host" >&2; exit 255;;
esac
exec "$@" env -i PATH="{path}" HOME=/root HOSTNAME="$host" sh -c "$line"
"""
