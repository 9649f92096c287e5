# SPDX-License-Identifier: Apache-2.0
"""How far the ranks of `anynpu launch` are: one line for each, with its state and what it has written last. On a
terminal the lines stay in place below the output; elsewhere a line is written when a rank starts, now and then, and
when it ends."""

import os
import re
import sys
import time

REDRAW = 0.2  # seconds between two drawings
QUIET = 30.0  # seconds without a word after which a line says so
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


class Tail:
    """Follows a log: hands on what is new, and knows the last line that has words."""

    def __init__(self, path):
        self.file = open(path, "rb")  # noqa: SIM115 - open as long as the rank writes
        self.last = ""
        self.changed = time.monotonic()
        self.part = b""

    def read(self):
        new = self.file.read()
        if new:
            self.part = (self.part + new)[-4096:]
            # A progress bar ends its lines with \r.
            pieces = [ESCAPES.sub("", each).strip() for each in re.split(r"[\r\n]", self.part.decode(errors="replace"))]
            words = [each for each in pieces if each]
            if words and words[-1] != self.last:
                self.last = words[-1]
                self.changed = time.monotonic()
            self.part = re.split(rb"[\r\n]", self.part)[-1]
        return new

    def end(self, most=1 << 16):
        """The last bytes of the log."""
        with open(self.file.name, "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - most))
            return log.read()

    def quiet(self):
        return time.monotonic() - self.changed


def seconds(value):
    return f"{value:.0f} s" if value < 600 else f"{value / 60:.0f} min"


class Lines:
    """For logs and pipes. The first rank's output is shown anyway, so only its beginning and end are told."""

    def __init__(self, ranks, every, stream=None):
        self.ranks, self.every, self.stream = ranks, every, stream or sys.stderr
        self.told = {}  # when, and the text, of each rank's last line
        for rank in ranks:
            self.tell(rank, f"started on {rank.place()}, process {rank.pid}; {rank.log}")

    def tell(self, rank, text):
        self.told[rank.number] = (time.monotonic(), text)
        print(f"rank {rank.number}: {text}", file=self.stream, flush=True)

    def show(self, new):
        sys.stdout.buffer.write(new)
        sys.stdout.flush()

    def update(self):
        for rank in self.ranks[1:]:
            when, text = self.told[rank.number]
            if rank.code is not None or not self.every or time.monotonic() - when < self.every:
                continue
            state = rank.tail.last if rank.tail.quiet() < max(QUIET, self.every) else f"quiet since: {rank.tail.last}"
            if state not in ("", text):
                self.tell(rank, state)
                self.told[rank.number] = (time.monotonic(), state)

    def ended(self, rank):
        self.tell(rank, rank.end())

    def close(self):
        self.update()


class Screen(Lines):
    """For a terminal."""

    def __init__(self, ranks, stream=None):
        self.ranks, self.stream = ranks, stream or sys.stderr
        self.drawn = 0  # lines
        self.shown = []
        self.when = 0.0
        self.part = b""
        self.draw()

    def line(self, rank):
        if rank.code is not None:
            return f"rank {rank.number}  {rank.end()}"
        quiet = f", quiet for {seconds(rank.tail.quiet())}" if rank.tail.quiet() > QUIET else ""
        state = "running" if rank.tail.last else "starting"
        return f"rank {rank.number}  {state} {seconds(rank.age())}{quiet}  {rank.tail.last}"

    def lines(self):
        width, height = os.get_terminal_size(self.stream.fileno())
        lines = [self.line(rank)[: max(width - 1, 10)] for rank in self.ranks]
        room = max(height - 2, 1)
        if len(lines) > room:
            rest = self.ranks[room - 1 :]
            running = sum(rank.code is None for rank in rest)
            lines[room - 1 :] = [f"… and {len(rest)} ranks more, {running} of them running"]
        return lines

    def erase(self):
        if self.drawn:
            self.stream.write(f"\x1b[{self.drawn}A\r\x1b[J")
            self.drawn = 0

    def draw(self):
        self.when = time.monotonic()
        lines = self.lines()
        if self.drawn and lines == self.shown:
            return
        self.erase()
        self.stream.write("".join(line + "\n" for line in lines))
        self.stream.flush()
        self.drawn, self.shown = len(lines), lines

    def show(self, new):
        """Whole lines go above ours; the last one is in our line until it is whole."""
        whole, newline, self.part = (self.part + new).rpartition(b"\n")
        if newline:
            self.erase()
            self.stream.flush()
            super().show(whole + newline)
            self.draw()

    def update(self):
        if time.monotonic() - self.when >= REDRAW:
            self.draw()

    def ended(self, rank):
        self.draw()

    def close(self):
        if self.part:
            self.show(b"\n")
        self.draw()


def of(ranks, every):
    """`every`: seconds between two lines of a rank where there is no terminal; 0: none between."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return Screen(ranks)
    return Lines(ranks, every)
