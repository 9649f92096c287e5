# SPDX-License-Identifier: Apache-2.0
"""The launcher's side of `anynpu launch --hosts`: an agent (ssh) a host, by which a member there starts ranks."""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time

from anynpu.library import version
from anynpu.ranks import message
from anynpu.ranks.process import Logged, describe_end

CONNECT = 120.0  # seconds in which every host must answer
SILENCE = 30.0  # seconds without a sign of life after which a host is lost


def command(agent, name):
    """AGENT HOST COMMAND…, whose words the shell of the other host reads, as ssh's."""
    words = [sys.executable, "-m", "anynpu.ranks.member"]
    if paths := os.environ.get("PYTHONPATH"):
        words = ["env", f"PYTHONPATH={paths}", *words]
    return [*shlex.split(agent), name, *map(shlex.quote, words)]


class RemoteRank(Logged):
    def __init__(self, member, number, device, log):
        self.member, self.number, self.device, self.host = member, number, device, member.place.name
        self.start, self.code, self.seconds, self.pid = time.monotonic(), None, 0.0, None
        self.ended, self.reason = None, None  # (code, seconds); why it is lost
        self.open_log(log)
        self.file = open(log, "ab", buffering=0)  # noqa: SIM115 - open as long as the rank writes

    def is_on(self, host):
        """Whether this is the host that the library calls so."""
        return host in (self.member.greeting["host"], self.member.place.name, self.member.place.address)

    def age(self):
        return time.monotonic() - self.start

    def poll(self):
        self.member.listen()
        if self.code is not None or self.ended is None:
            return False
        self.code, self.seconds = self.ended
        return True

    def lose(self, reason):
        if self.ended is None:
            self.ended, self.reason = (255, self.age()), reason

    def end(self):
        return f"lost after {self.seconds:.1f} s: {self.reason}" if self.reason else describe_end(*self.ended)

    def signal(self, number):
        if self.ended is None or number == signal.SIGKILL:  # what it has left behind has its group
            self.member.say(rank=self.number, signal=int(number))

    def reap(self):
        until = time.monotonic() + 5
        while self.ended is None and time.monotonic() < until:
            self.member.listen()
            time.sleep(0.01)
        self.lose("it did not end when it was killed")
        self.poll()

    def close(self):
        self.file.close()


class Member:
    """The agent of a host."""

    def __init__(self, agent, place):
        self.place, self.words = place, command(agent, place.name)
        self.ranks = {}
        self.greeting, self.refusal, self.lost = None, None, None
        try:
            self.agent = subprocess.Popen(
                self.words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # ours; it may ask for a password
            )
        except OSError as error:
            raise ValueError(f"the agent {self.words[0]} cannot be started: {error.strerror}; give --agent") from None
        self.reader = message.Reader(self.agent.stdout.fileno())
        self.heard = time.monotonic()

    def say(self, **words):
        with contextlib.suppress(OSError):  # listen() finds out
            self.agent.stdin.write(message.line(**words))
            self.agent.stdin.flush()

    def listen(self):
        said = self.reader.read() if self.lost is None else []
        if said:
            self.heard = time.monotonic()
        for each in said:
            self.hear(each)
        if self.lost is None and self.reader.ended:
            self.lose(f"its agent {self.words[0]} has ended with {describe_code(self.agent)}")
        elif self.lost is None and time.monotonic() - self.heard > SILENCE and self.greeting:
            self.lose(f"no sign of life for {SILENCE:.0f} s")

    def hear(self, said):
        if "noise" in said:
            print(f"{self.place.name}: {said['noise']}", file=sys.stderr)
        elif "host" in said:
            self.greeting = said
        elif "refused" in said:
            self.refusal = said["refused"]
        elif "started" in said:
            self.ranks[said["started"]].pid = said["pid"]
        elif "output" in said:
            rank = self.ranks[said["output"]]
            with contextlib.suppress(OSError):  # check_log tells it
                rank.file.write(message.data(said["text"]))
        elif "ended" in said:
            rank = self.ranks[said["ended"]]
            rank.ended = said["code"], said["seconds"]

    def lose(self, reason):
        self.lost = f"host {self.place}: {reason}"
        for rank in self.ranks.values():
            rank.lose(self.lost)

    def check(self):
        """ValueError for a host that cannot take part."""
        if self.refusal:
            raise ValueError(f"host {self.place}: {self.refusal}")
        if self.lost:
            raise ValueError(f"{self.lost}; it was called as: {shlex.join(self.words)}")
        if self.greeting and self.greeting["version"] != version.anynpu():
            raise ValueError(
                f"host {self.place} has anynpu {self.greeting['version']}, and this one {version.anynpu()}; "
                "install the same on all hosts"
            )

    def part(self):
        """Ends the ranks that are left."""
        with contextlib.suppress(OSError):
            self.agent.stdin.close()

    def close(self):
        try:
            self.agent.wait(1 if self.lost else 10)
        except subprocess.TimeoutExpired:
            self.agent.kill()
            self.agent.wait()
        self.agent.stdout.close()


def describe_code(agent):
    try:
        code = agent.wait(1)
    except subprocess.TimeoutExpired:
        return "no exit code yet"
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


class Team:
    """All hosts of a launch."""

    def __init__(self, agent, places, interrupted):
        self.interrupted, self.members = interrupted, []  # a function; by host
        try:
            for place in places:
                self.members.append(Member(agent, place))
        except BaseException:
            self.close()
            raise

    def wait(self, done, what):
        """Until done(member) holds for all, or we are interrupted. ValueError for a host that cannot, or does not."""
        end = time.monotonic() + CONNECT
        while waiting := [member for member in self.members if not done(member)]:
            for member in self.members:
                member.listen()
                member.check()
            if self.interrupted():
                return False
            if time.monotonic() > end:
                names = ", ".join(str(member.place) for member in waiting)
                call = shlex.join([*waiting[0].words[:-3], "true"])
                raise ValueError(f"{names} did not {what} within {CONNECT:.0f} s; see whether this ends: {call}")
            time.sleep(0.01)
        return True

    def port(self):
        """One that is free on the first host, once all have answered; None when we are interrupted before."""
        return self.members[0].greeting["port"] if self.wait(lambda member: member.greeting, "answer") else None

    def start(self, jobs, folder):
        """All ranks; a host that cannot start its own ends the others'."""
        ranks = []
        for member, job in zip(self.members, jobs, strict=True):
            for each in job["ranks"]:
                number = each["number"]
                member.ranks[number] = RemoteRank(member, number, each["device"], folder / f"rank_{number}.log")
                ranks.append(member.ranks[number])
            member.say(job=job)
        self.wait(lambda member: all(rank.pid for rank in member.ranks.values()), "start its ranks")
        return ranks

    def close(self):
        for member in self.members:
            member.part()
        for member in self.members:
            member.close()
