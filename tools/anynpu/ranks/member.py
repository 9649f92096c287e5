# SPDX-License-Identifier: Apache-2.0
"""The part of `anynpu launch --hosts` on one host: starts this host's ranks, passes on what they write, and ends them
when it is told to or nobody is there any more to tell it. An agent (ssh) starts it: python -m anynpu.ranks.member."""

import contextlib
import os
import re
import selectors
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path

from anynpu.library import version
from anynpu.ranks import assignment, message, share
from anynpu.ranks.process import Process

PATIENCE = 5.0  # seconds that ranks have to end when the launcher has gone
TABLE = "anynpu-launch-{}.json"  # with the member's process id


class Member:
    def __init__(self, say):
        self.say = say
        self.reader = message.Reader(sys.stdin.fileno())
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.reader.descriptor, selectors.EVENT_READ, self.listen)
        self.ranks, self.told = {}, set()  # by number; those whose end has been told
        self.job, self.leaving = None, False
        self.beaten = 0.0

    def listen(self):
        """To the launcher."""
        for said in self.reader.read():
            if "job" in said:
                self.job = said["job"]
            elif said.get("rank") in self.ranks:
                self.ranks[said["rank"]].signal(said["signal"])
        self.leaving = self.leaving or self.reader.ended

    def turn(self, seconds=0.05):
        """Waits for news, at most so long, and tells them."""
        for key, _ in self.selector.select(seconds):
            key.data()
        for rank in self.ranks.values():
            rank.poll()
            if rank.code is not None and rank.number not in self.told:
                self.pass_on(rank.number)
                self.told.add(rank.number)
                self.say(ended=rank.number, code=rank.code, seconds=rank.seconds)
        if time.monotonic() - self.beaten > message.BEAT:
            self.beaten = time.monotonic()
            self.say(alive=True)

    def pass_on(self, number):
        """What a rank, or what it has started, has written."""
        output = self.ranks[number].process.stdout
        with contextlib.suppress(BlockingIOError):
            while new := os.read(output.fileno(), 1 << 16):
                self.say(output=number, text=message.text(new))
            if output.fileno() in self.selector.get_map():
                self.selector.unregister(output)

    def start(self):
        """The ranks of the job. ValueError and OSError say what is wrong with it here."""
        job = self.job
        folder, own = Path(job["folder"]), job["ranks"]
        if not folder.is_dir():
            raise ValueError(f"there is no folder {folder} on host {socket.gethostname()}; ranks start where you are")
        if not (folder / job["script"]).is_file():
            raise ValueError(f"there is no file {job['script']} on host {socket.gethostname()}, in {folder}")
        for name in (*assignment.VENDOR, *assignment.CHIEF):  # what a login here sets does not count
            os.environ.pop(name, None)
        os.environ.update(job["environment"])
        assignment.check_npus(len(own), f"the number of ranks on host {socket.gethostname()}")
        common = {**os.environ, **share.threads(len(own)), "RANK_TABLE_FILE": str(self.write_table(job["table"]))}
        cores = share.cores(len(own)) if job["bind"] else [None] * len(own)
        command = [sys.executable, "-u", job["script"], *job["arguments"]]
        for rank, its_cores in zip(own, cores, strict=True):
            number, device = rank["number"], rank["device"]
            environment = {**common, **rank["environment"]}
            self.ranks[number] = Process(number, device, command, environment, its_cores, Process.PIPE, folder)
            output = self.ranks[number].process.stdout
            os.set_blocking(output.fileno(), False)
            self.selector.register(output, selectors.EVENT_READ, lambda number=number: self.pass_on(number))
            self.say(started=number, device=device, pid=self.ranks[number].pid)

    def write_table(self, text):
        """This host's copy of the rank table. One that a killed member has left is removed."""
        for old in Path(tempfile.gettempdir()).glob(TABLE.format("*")):
            pid = re.fullmatch(TABLE.format(r"(\d+)"), old.name)
            if pid and not Path("/proc", pid[1]).exists():
                with contextlib.suppress(OSError):  # another user's
                    old.unlink()
        self.table = Path(tempfile.gettempdir(), TABLE.format(os.getpid()))
        self.table.write_text(text, encoding="utf-8")
        return self.table

    def run(self):
        while self.job is None and not self.leaving:
            self.turn()
        if self.job is None:
            return
        self.start()
        while not self.leaving:
            self.turn()

    def running(self):
        return any(rank.code is None for rank in self.ranks.values())

    def stop(self):
        for rank in self.ranks.values():
            rank.signal(signal.SIGTERM)
        until = time.monotonic() + PATIENCE
        while self.running() and time.monotonic() < until:
            with contextlib.suppress(OSError):  # nobody reads any more
                self.turn()
        for rank in self.ranks.values():
            rank.signal(signal.SIGKILL)
        for rank in self.ranks.values():
            rank.reap()
        if hasattr(self, "table"):
            self.table.unlink(missing_ok=True)


def main():
    def say(**words):
        left = message.line(**words)
        while left:
            left = left[os.write(1, left) :]

    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    member = Member(say)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: setattr(member, "leaving", True))
    signal.signal(signal.SIGINT, lambda *_: None)  # from a terminal it goes to the launcher, which decides
    try:
        with socket.socket() as free:
            free.bind(("", 0))
            port = free.getsockname()[1]
        say(host=socket.gethostname(), version=version.anynpu(), port=port)
        member.run()
    except (ValueError, OSError) as error:
        with contextlib.suppress(OSError):
            say(refused=str(error))
            while not member.reader.ended and not member.leaving:
                member.turn()
    finally:
        member.stop()


if __name__ == "__main__":
    main()
