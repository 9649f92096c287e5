# SPDX-License-Identifier: Apache-2.0
"""Log files as processes of the NPU write them: where they are, and their lines in the order of time."""

import heapq
import os
import re
from pathlib import Path

HEAD = re.compile(
    r"\[(?P<level>[A-Z]+)\] (?P<module>[^\s(]*)\((?P<pid>\d+),(?P<process>.*?)\):"
    r"(?P<time>\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3}) \[(?P<file>.*?):(?P<line>\d+)\](?P<text>.*)\Z",
    re.DOTALL,
)
NAME = re.compile(r"(?:plog|device)-(\d+)_(\d+)\.log")
BLOCK = 1 << 14  # of a file that is read beside thousands of others


def root():
    """As the library chooses it."""
    if path := os.environ.get("ASCEND_PROCESS_LOG_PATH"):
        return Path(path)
    if path := os.environ.get("ASCEND_WORK_PATH"):
        return Path(path) / "log"
    return Path(os.environ.get("HOME") or "/tmp") / "ascend" / "log"


class File:
    """One file of one process."""

    def __init__(self, path):
        self.path = path
        self.kind, self.side = path.parts[-3:-1]
        self.pid, self.time = (int(part) for part in NAME.fullmatch(path.name).groups())

    def records(self):
        """(time, order of kinds, whole text of a line, which may have several rows)."""
        yield from records(rows(self.path), self.kind)


def rows(path):
    """A file's rows. It is open only while a block is read: of more files than a process may open, all are merged."""
    place, held = 0, b""
    while block := read(path, place):
        place += len(block)
        *whole, held = (held + block).split(b"\n")
        yield from (f"{row.decode(errors='replace')}\n" for row in whole)
    if held:
        yield held.decode(errors="replace")


def read(path, place, size=BLOCK):
    with path.open("rb") as stream:
        stream.seek(place)
        return stream.read(size)


def records(rows, kind):
    held = []
    for row in rows:
        if HEAD.match(row) and held:
            yield record(held, kind)
            held = []
        held.append(row)
    if held:
        yield record(held, kind)


def record(rows, kind):
    text = "".join(rows).rstrip("\n")
    found = HEAD.match(text)
    return (found["time"] if found else "", kind != "debug", text)


def files(folder):
    found = [path for path in folder.glob("*/*/*.log") if NAME.fullmatch(path.name)]
    return sorted(map(File, found), key=lambda file: (file.time, file.path))


def merged(chosen):
    """The lines of files in the order of time; an error, which stands in debug and in run, once."""
    now, shown = None, set()
    for time, again, text in heapq.merge(*(file.records() for file in chosen), key=lambda record: record[:2]):
        if time != now:
            now, shown = time, set()
        if again and text in shown:
            continue
        shown.add(text)
        yield text
