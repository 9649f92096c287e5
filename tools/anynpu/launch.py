# SPDX-License-Identifier: Apache-2.0
"""Runs a script as several ranks on this host, each on an NPU of its own: anynpu launch -n 4 train.py.

Every rank gets the variables that torchrun (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT) and the vendor's
tools (RANK_ID, RANK_SIZE, DEVICE_ID, ASCEND_DEVICE_ID, JOB_ID; RANK_TABLE_FILE with --rank-table) would set, its share
of the cores, and a log. The first rank's output is shown; of the others, how they end. When a rank fails, the others
are stopped, and its exit code is the command's. Calls to CUDA are sent to the NPU as by `anynpu run`."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from argparse import REMAINDER
from pathlib import Path

from anynpu import run

PATIENCE = 5.0  # seconds that ranks have to end after a signal


def add_arguments(parser):
    parser.add_argument("-n", "--ranks", type=int, help="number of ranks; with a rank table, that of the table")
    parser.add_argument("--rank-table", metavar="FILE", help="a rank table (JSON) whose ranks are all on this host")
    parser.add_argument("--log-dir", metavar="DIR", default="launch_logs", help="rank_<N>.log go here (launch_logs)")
    parser.add_argument("--no-bind", action="store_true", help="do not give each rank cores of its own")
    parser.add_argument("--no-transfer", action="store_true", help="do not send CUDA calls to the NPU")
    parser.add_argument("script", metavar="SCRIPT", help="the Python script to run")
    parser.add_argument("arguments", metavar="…", nargs=REMAINDER, help="its arguments")


def table_devices(path):
    """The device of each rank of a table; that it makes sense is checked where the ranks join."""
    try:
        table = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is no JSON: {error}") from None
    if "server_list" in table:
        entries = [(int(d["rank_id"]), int(d["device_id"])) for s in table["server_list"] for d in s["device"]]
        return [device for _, device in sorted(entries)]
    servers = {}
    for group in table.get("group_list", []):
        for instance in group["instance_list"]:
            devices = servers.setdefault(instance["server_id"], [])
            devices += [int(device["device_id"]) for device in instance["devices"]]
    return [device for devices in servers.values() for device in sorted(devices)]


def devices_of(options):
    if options.rank_table is None:
        if options.ranks is None or options.ranks < 1:
            raise ValueError("how many ranks? give -n 4, or --rank-table FILE")
        return list(range(options.ranks))
    try:
        devices = table_devices(options.rank_table)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{options.rank_table} is no rank table: {error!r} is missing or wrong") from None
    if options.ranks not in (None, len(devices)):
        raise ValueError(f"-n is {options.ranks}, but {options.rank_table} has {len(devices)} ranks")
    if not devices:
        raise ValueError(f"{options.rank_table} has no ranks")
    return devices


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def shares(ranks):
    """The cores of each rank: its part of ours, or all of them where there are fewer cores than ranks."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < ranks:
        return [cores] * ranks
    return [cores[rank * len(cores) // ranks : (rank + 1) * len(cores) // ranks] for rank in range(ranks)]


def environments(options, devices):
    common = {
        **run.environment(not options.no_transfer),
        "WORLD_SIZE": str(len(devices)),
        "LOCAL_WORLD_SIZE": str(len(devices)),
        "RANK_SIZE": str(len(devices)),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": os.environ.get("MASTER_PORT", str(free_port())),
        "JOB_ID": os.environ.get("JOB_ID", f"launch-{os.getpid()}"),
    }
    if options.rank_table is not None:
        common["RANK_TABLE_FILE"] = str(Path(options.rank_table).absolute())
    threads = max(1, len(os.sched_getaffinity(0)) // len(devices))
    common.setdefault("ANYNPU_THREADS", os.environ.get("ANYNPU_THREADS", str(threads)))
    common.setdefault("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", str(threads)))
    for rank, device in enumerate(devices):
        own = {"RANK": rank, "LOCAL_RANK": rank, "RANK_ID": rank, "DEVICE_ID": device, "ASCEND_DEVICE_ID": device}
        yield {**os.environ, **common, **{name: str(value) for name, value in own.items()}}


class Launch:
    """The ranks while they run."""

    def __init__(self, options, devices):
        self.folder = Path(options.log_dir)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.start = time.monotonic()
        self.stopped_by = None  # a signal
        self.processes = []
        command = [sys.executable, "-u", options.script, *options.arguments]
        cores = shares(len(devices))
        for rank, environment in enumerate(environments(options, devices)):
            mine = None if options.no_bind else cores[rank]
            self.processes.append(self.started(rank, command, environment, mine))
        self.copier = threading.Thread(target=self.show_first, daemon=True)
        self.copier.start()

    def log(self, rank):
        return self.folder / f"rank_{rank}.log"

    def started(self, rank, command, environment, cores):
        with open(self.log(rank), "wb") as log:
            return subprocess.Popen(
                command,
                env=environment,
                stdout=subprocess.PIPE if rank == 0 else log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # signals reach the ranks through us, once
                preexec_fn=None if cores is None else lambda: os.sched_setaffinity(0, cores),
            )

    def show_first(self):
        with open(self.log(0), "wb") as log:
            for line in self.processes[0].stdout:
                log.write(line)
                log.flush()
                sys.stdout.buffer.write(line)
                sys.stdout.flush()

    def signal(self, number):
        for process in self.processes:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, number)

    def stop(self):
        """Ends what still runs: asked first, then killed."""
        self.signal(signal.SIGTERM)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and any(process.poll() is None for process in self.processes):
            time.sleep(0.02)
        self.signal(signal.SIGKILL)

    def failed(self):
        return [rank for rank, process in enumerate(self.processes) if process.poll() not in (None, 0)]

    def culprit(self, first):
        """Of the ranks that have ended: one that a signal ended, for the others may have heard of that and failed."""
        ended = self.failed()
        return next((rank for rank in ended if self.processes[rank].returncode < 0), next(iter(first), None))

    def wait(self):
        """The rank that failed, or None."""
        failed = []
        while not failed and self.stopped_by is None and any(process.poll() is None for process in self.processes):
            time.sleep(0.02)
            failed = self.failed()
        failed = failed or self.failed()
        if failed and self.stopped_by is None:
            time.sleep(0.5)  # what others say of it may be the better text
        culprit = self.culprit(failed)
        self.stop()
        for process in self.processes:
            process.wait()
        self.copier.join(timeout=PATIENCE)
        return culprit

    def report(self):
        seconds = time.monotonic() - self.start
        for rank, process in enumerate(self.processes):
            code = process.returncode
            how = "done" if code == 0 else f"exit code {code}" if code > 0 else f"ended by {signal.Signals(-code).name}"
            print(f"rank {rank}: {how}; {self.log(rank)}", file=sys.stderr)
        print(f"{len(self.processes)} ranks, {seconds:.1f} s", file=sys.stderr)


def last_lines(path, count=15):
    return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-count:])


def execute(options):
    if not Path(options.script).is_file():
        raise FileNotFoundError(f"there is no file {options.script}; give the path of a Python script")
    run.check_frameworks()
    launch = Launch(options, devices_of(options))

    def pass_on(number, _):
        launch.stopped_by = number

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        failed = launch.wait()
    finally:
        launch.stop()
        for number, handler in before.items():
            signal.signal(number, handler)
    launch.report()
    if launch.stopped_by is not None:
        return 128 + launch.stopped_by
    if failed is None:
        return 0
    if failed != 0:
        print(f"the end of {launch.log(failed)}:\n{last_lines(launch.log(failed))}", file=sys.stderr)
    code = launch.processes[failed].returncode
    return code if code > 0 else 128 - code
