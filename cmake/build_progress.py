# SPDX-License-Identifier: Apache-2.0
"""build_progress.py FOLDER [TARGET…]: runs ninja and shows where it is.

On a terminal one line counts the steps and estimates the time left; in a log a line a minute does. The estimate takes
the steps left to be as long as those done. Of a step only what it prints is shown: a warning, or the error that ends
the build. Ends with ninja's status.
"""

import os
import re
import subprocess
import sys
import time

LINE = re.compile(r"^@(\d+) (\d+)@ (.*)")  # steps finished, all steps, what ninja says of the last one
SECONDS_BETWEEN_LINES = 60  # in a log


def span(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def place(finished, total, start):
    passed = time.monotonic() - start
    left = f", about {span(passed / finished * (total - finished))} left" if finished > 2 else ""
    return f"build: {finished} of {total} steps, {span(passed)} min passed{left}"


class Display:
    def __init__(self, terminal):
        self.terminal, self.start, self.last = terminal, time.monotonic(), time.monotonic()

    def step(self, finished, total):
        now = time.monotonic()
        if self.terminal:
            print(f"\r\033[K{place(finished, total, self.start)}", end="", flush=True)
        elif now - self.last >= SECONDS_BETWEEN_LINES:
            self.last = now
            print(place(finished, total, self.start), flush=True)

    def text(self, line):
        print(f"\r\033[K{line}" if self.terminal else line, flush=True)

    def end(self):
        if self.terminal:
            print("\r\033[K", end="", flush=True)


def main():
    folder, *targets = sys.argv[1:]
    environment = os.environ | {"NINJA_STATUS": "@%f %t@ "}
    ninja = subprocess.Popen(
        ["ninja", "-C", folder, *targets], stdout=subprocess.PIPE, text=True, errors="replace", env=environment
    )
    display = Display(sys.stdout.isatty())
    for line in ninja.stdout:
        if found := LINE.match(line):
            display.step(int(found[1]), int(found[2]))
        elif not line.startswith(("ninja: Entering directory", "ninja: no work to do")):
            display.text(line.rstrip("\n"))
    display.end()
    sys.exit(ninja.wait())


if __name__ == "__main__":
    main()
