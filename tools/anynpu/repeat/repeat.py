# SPDX-License-Identifier: Apache-2.0
"""The runs, one after the other, each compared with the first."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from anynpu.library import place
from anynpu.repeat import WHERE

BEGINNING = "anynpu run --repeat"


class Stopped(Exception):
    """A run failed: nothing can be compared. `code` is the script's."""

    def __init__(self, text, code):
        super().__init__(text)
        self.code = code


def say(text):
    sys.stdout.flush()
    for line in text.splitlines():
        print(f"{BEGINNING}: {line}", file=sys.stderr, flush=True)


def run(command, what, **variables):
    """One run in a process of its own, whose output is the user's to see."""
    code = subprocess.run(command, env=os.environ | variables).returncode
    if code:
        raise Stopped(f"{what} ended with {code}, so nothing is compared; let the script run through first", code)


def digested(command, folder, what, **variables):
    folder.mkdir()
    run(command, what, ANYNPU_DIGEST=str(folder), **variables)
    if not any(folder.glob("*.digest")):
        raise Stopped(f"{what} ran no operator on an NPU; is the script written for one?", 1)


def compared(one, other):
    """What `anynpu dump digest` tells: {"equal", "operators", "text", "place", …} for each file."""
    done = subprocess.run([place.comparison(), "digest", str(one), str(other), "-json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise Stopped(done.stderr.strip(), 1)
    return [json.loads(line) for line in done.stdout.splitlines()]


def line_of(command, folder, found):
    """Where the script called the operator: one more run, in which operators run in the thread that calls them."""
    if "place" not in found:
        return ""
    named = f"{found['file']} {found['place']}"
    digested(command, folder, "the run for the line", ANYNPU_DIGEST_PLACE=named, ASCEND_LAUNCH_BLOCKING="1")
    told = folder / WHERE
    return f"; called at {told.read_text().partition(' ')[2]}" if told.exists() else ""


def repeated(command, count, folder):
    """0 where all runs were equal, 1 where one was not."""
    for number in range(1, count + 1):
        say(f"run {number} of {count}")
        digested(command, folder / str(number), f"run {number}")
        if number == 1:
            continue
        files = compared(folder / "1", folder / str(number))
        different = [one for one in files if not one["equal"]]
        if different:
            found = different[0]
            rank = f"{Path(found['file']).stem}: " if len(files) > 1 else ""
            say(f"runs 1 and {number} differ")
            say(f"{rank}{found['text']}{line_of(command, folder / 'line', found)}")
            return 1
    total = sum(one["operators"] for one in files)
    say(f"{count} runs had equal bits in all {total} operators")
    return 0


def execute(command, count):
    with tempfile.TemporaryDirectory(prefix="anynpu-repeat-") as folder:
        try:
            return repeated(command, count, Path(folder))
        except Stopped as stopped:
            say(str(stopped))
            return stopped.code
