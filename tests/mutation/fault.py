# SPDX-License-Identifier: Apache-2.0
"""The faults of faults.toml: what is changed where, and the test that must notice it."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("faults.toml")
LEAST = {
    "dump": 3,
    "kernel": 12,
    "gradient": 6,
    "pass": 6,
    "collective": 3,
    "log": 2,
    "stream": 3,
    "profile": 2,
    "tuning": 6,
}  # of each area


class StaleError(Exception):
    """The fault no longer fits the source it was written for."""


@dataclass(frozen=True)
class Catcher:
    """One test: of a program of the build, or of pytest against the library."""

    name: str  # as its runner prints it
    program: str | None  # None: pytest

    @property
    def target(self):
        """What ninja links for it."""
        return self.program or "lib/libanynpu.so"

    def __str__(self):
        return f"{self.program} {self.name}" if self.program else self.name


@dataclass(frozen=True)
class Fault:
    name: str
    area: str
    what: str  # in a sentence, as a reviewer would say it
    file: str
    text: str  # stands once in the file
    becomes: str
    caught_by: str

    @property
    def test(self):
        program, _, name = self.caught_by.partition(" ")
        return Catcher(name, program) if name else Catcher(program, None)

    def planted(self, source):
        """The file's text with the fault in it."""
        places = source.count(self.text)
        if places != 1:
            raise StaleError(f"{self.name}: its text stands {places} times in {self.file}, not once:\n{self.text}")
        return source.replace(self.text, self.becomes)

    def plant(self, tree):
        """Changes the file in `tree`, a copy of the sources."""
        path = tree / self.file
        if not path.exists():
            raise StaleError(f"{self.name}: there is no {self.file}")
        planted = self.planted(path.read_text(encoding="utf-8"))
        path.unlink()  # whatever else the name stands for stays as it is
        path.write_text(planted, encoding="utf-8")


def faults():
    """All of them, in the order of the list."""
    return [Fault(**entry) for entry in tomllib.loads(LIST.read_text(encoding="utf-8"))["fault"]]


def outcome(test, status, output):
    """True where the run of `test` failed as tests fail, False where it passed; else why it tells nothing.

    A crash, a test that does not exist, a library that cannot be loaded and a run that was stopped are no failures.
    """
    name = re.escape(test.name)
    failed, passed = (
        (rf"^\[  FAILED  \] {name}(?=[ ,])", rf"^\[       OK \] {name} ")
        if test.program
        else (rf"^FAILED {name}(?=$| - )", rf"^PASSED {name}$")
    )
    if status == 1 and re.search(failed, output, re.MULTILINE):
        return True
    if status == 0 and re.search(passed, output, re.MULTILINE):
        return False
    return f"{test} neither passed nor failed (status {status})"
