# SPDX-License-Identifier: Apache-2.0
"""Runs a script as several ranks, each on an NPU of its own: anynpu launch -n 4 train.py; on several hosts
anynpu launch --hosts a,b -n 8 train.py.

Every rank gets the variables that torchrun (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT) and the vendor's
tools (RANK_ID, RANK_SIZE, DEVICE_ID, ASCEND_DEVICE_ID, JOB_ID; RANK_TABLE_FILE with a rank table) would set, its share
of the cores, and a log. How many ranks: -n or --rank-table, else RANK_TABLE_FILE, else CM_CHIEF_IP and what belongs to
it. With --hosts, ranks are started on each of these through an agent (ssh), with a rank table that is written for
them; the script, and Python with anynpu, must be there under the same paths. The first rank's output is shown; of all
ranks a line that tells how far they are. When a rank fails, the others are stopped, and its exit code is the command's.
Calls to CUDA are sent to the NPU as by `anynpu run`."""

import contextlib
import re
import signal
import sys
import time
from argparse import REMAINDER
from collections import Counter
from pathlib import Path

from anynpu.ranks import assignment, hosts, job, progress, remote, share
from anynpu.ranks.process import Rank, writing
from anynpu.subcommand import run

PATIENCE = 5.0  # seconds that ranks have to end after a signal
OTHERS = 0.5  # seconds that others have to say what they heard of a failure
LAST_WORDS = 3.0  # seconds that a rank whom others name has to end by itself
# The library tells whom a rank has waited for in vain. Ranks are numbered anew in each group; processes are not.
# Hosts may have processes of one number.
NAMED = re.compile(rb"EI0002: [^\n]*? \(host ([^\n(),]*),[^\n()]* process (\d+)\)")


def add_arguments(parser):
    parser.add_argument("-n", "--ranks", type=int, help="number of ranks; with a rank table, that of the table")
    parser.add_argument("--rank-table", metavar="FILE", help="a rank table (JSON) whose ranks are all on this host")
    parser.add_argument(
        "--hosts",
        metavar="LIST",
        help="the hosts that the ranks are shared out to: a,b or a:4,b:4 or node[1-4]; a=ADDRESS where others reach "
        "it by an address that its name does not have here",
    )
    parser.add_argument(
        "--agent",
        metavar="COMMAND",
        default="ssh",
        help="what runs a command on a host, called as COMMAND HOST WORDS… like the default, ssh",
    )
    parser.add_argument("--log-dir", metavar="DIR", default="launch_logs", help="rank_<N>.log go here (launch_logs)")
    parser.add_argument("--no-bind", action="store_true", help="do not give each rank cores of its own")
    parser.add_argument("--no-transfer", action="store_true", help="do not send CUDA calls to the NPU")
    parser.add_argument(
        "--progress",
        metavar="SECONDS",
        type=float,
        default=30.0,
        help="without a terminal: seconds between two lines about a rank (30), 0 for its start and end alone",
    )
    parser.add_argument("script", metavar="SCRIPT", help="the Python script to run")
    parser.add_argument("arguments", metavar="…", nargs=REMAINDER, help="its arguments")


class Launch:
    """The ranks while they run."""

    def __init__(self, options, found):
        self.folder = Path(options.log_dir)
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        self.ranks = []
        self.signals = []  # those that the launcher got
        self.lines = None
        self.team = None  # with --hosts
        self.options, self.found = options, found

    def begin(self):
        begin = self.begin_on_hosts if self.options.hosts else self.begin_here
        self.ranks = begin(run.environment(not self.options.no_transfer))
        if self.ranks:
            self.lines = progress.of(self.ranks, self.options.progress)

    def begin_here(self, more):
        command = [sys.executable, "-u", self.options.script, *self.options.arguments]
        devices = self.found.devices
        cores = [None] * len(devices) if self.options.no_bind else share.cores(len(devices))
        environments = self.found.environments({**share.threads(len(devices)), **more})
        for number, (device, environment) in enumerate(zip(devices, environments, strict=True)):
            log = self.folder / f"rank_{number}.log"
            self.ranks.append(Rank(number, device, command, environment, cores[number], log))
        return self.ranks

    def begin_on_hosts(self, more):
        self.team = remote.Team(self.options.agent, self.found, interrupted=lambda: self.signals)
        port = self.team.port()
        if port is None:
            return []
        jobs = list(job.jobs(self.found, self.options, port, more))
        with writing(table := self.folder / "rank_table.json"):
            table.write_text(jobs[0]["table"], encoding="utf-8")
        return self.team.start(jobs, self.folder)

    def look(self):
        """Passes on what ranks have written, and tells who has ended. True while one runs."""
        ended = [rank for rank in self.ranks if rank.poll()]
        for rank in self.ranks:
            new = rank.tail.read()
            if rank.number == 0 and new:
                self.lines.show(new)
        for rank in ended:
            self.lines.ended(rank)
        self.lines.update()
        return any(rank.code is None for rank in self.ranks)

    def look_for(self, seconds, signals=sys.maxsize):
        """Until that time is over, all have ended, or so many signals have come."""
        until = time.monotonic() + seconds
        while self.look() and time.monotonic() < until and len(self.signals) < signals:
            time.sleep(0.02)

    def failed(self):
        return [rank for rank in self.ranks if rank.code]

    def named(self):
        """The rank that most of the failed ones say they have waited for; None where they say nothing."""
        names = Counter()
        for failed in self.failed():
            said = {(host.decode(errors="replace"), int(pid)) for host, pid in NAMED.findall(failed.tail.end())}
            found = {rank for rank in self.ranks for host, pid in said if rank.pid == pid and rank.is_on(host)}
            names.update(found - {failed})
        return names.most_common(1)[0][0] if names else None

    def culprit(self):
        """One that was killed or has crashed; else whom the others name; else the first to end. Not one that has
        aborted: that is how torch ends a rank that has heard of another's fault."""
        failed = sorted(self.failed(), key=lambda rank: rank.seconds)
        crashed = [rank for rank in failed if rank.code < 0 and -rank.code not in (signal.SIGABRT, signal.SIGTERM)]
        return next(rank for rank in [*crashed, self.named(), *failed] if rank in failed)

    def wait(self):
        """The rank that failed, or None."""
        while self.look() and not self.failed() and not self.signals:
            time.sleep(0.02)
        if self.signals or not self.failed():
            return None
        self.look_for(OTHERS)
        until = time.monotonic() + LAST_WORDS
        while (named := self.named()) and named.code is None and time.monotonic() < until and not self.signals:
            self.look_for(0.05, signals=1)
        return self.culprit()

    def stop(self):
        """Ends what still runs, also what ended ranks have left behind: asked first, then (or at a second signal)
        killed."""
        try:
            for rank in self.ranks:
                rank.signal(signal.SIGTERM)
            if self.lines is not None:
                self.look_for(PATIENCE, signals=2)
        finally:
            for rank in self.ranks:
                rank.signal(signal.SIGKILL)
            for rank in self.ranks:
                rank.reap()
        if self.lines is not None:
            self.look()
            self.lines.close()
        for rank in self.ranks:
            rank.close()
        if self.team is not None:
            self.team.close()


@contextlib.contextmanager
def signals_noted(launch):
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {each: signal.signal(each, lambda number, _: launch.signals.append(number)) for each in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def last_lines(path, count=15):
    return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-count:])


def tell_failure(rank, named, others):
    stopped = "; the others were stopped" if others else ""
    where = f" on host {rank.host}" if rank.host else ""
    print(f"rank {rank.number}{where} has failed: {rank.end()}{stopped}", file=sys.stderr)
    if named not in (None, rank):
        print(f"it has waited for rank {named.number}: see {named.log}", file=sys.stderr)
    if rank.number == 0:
        print(f"its output is above and in {rank.log}", file=sys.stderr)
    else:
        print(f"the end of {rank.log}:\n{last_lines(rank.log)}", file=sys.stderr)


def described(options):
    """The ranks (with --hosts: the hosts), and a sentence about them."""
    if options.hosts is None:
        found = assignment.find(options.ranks, options.rank_table)
        return found, f"{len(found.devices)} ranks, from {found.source}"
    if options.rank_table:
        raise ValueError("--hosts writes a rank table, and --rank-table gives one; leave out one of them")
    found = hosts.parse(options.hosts, options.ranks)
    parts = ", ".join(f"{place.count} on {place}" for place in found)
    return found, f"{sum(place.count for place in found)} ranks, from --hosts: {parts}"


def execute(options):
    if not Path(options.script).is_file():
        raise FileNotFoundError(f"there is no file {options.script}; give the path of a Python script")
    run.check_frameworks()
    found, sentence = described(options)
    launch = Launch(options, found)
    start = time.monotonic()
    print(sentence, file=sys.stderr)
    with signals_noted(launch):
        try:
            launch.begin()
            failed = launch.wait()
            named = launch.named()
        finally:
            launch.stop()
    print(f"{len(launch.ranks)} ranks, {time.monotonic() - start:.1f} s; logs in {launch.folder}", file=sys.stderr)
    if launch.signals:
        return 128 + launch.signals[0]
    if failed is None:
        return 0
    tell_failure(failed, named, len(launch.ranks) > 1)
    failed.check_log()
    return failed.code if failed.code > 0 else 128 - failed.code
