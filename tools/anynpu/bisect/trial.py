# SPDX-License-Identifier: Apache-2.0
"""One run of the script with something switched off."""

import json
import os
import subprocess
import sys

from anynpu.bisect import loss


class Stopped(Exception):
    """Nothing can be found out, and why."""


class Script:
    def __init__(self, command, watch, series, folder):
        self.command, self.watch, self.series, self.folder = command, watch, series, folder
        self.runs = 0

    def run(self, **variables):
        """The loss. What the script prints is shown only where it fails."""
        self.runs += 1
        done = subprocess.run(
            self.command, env=os.environ | variables, capture_output=True, text=True, errors="replace"
        )
        if done.returncode:
            sys.stderr.write(done.stdout[-4000:] + done.stderr[-4000:])
            raise Stopped(f"the script ended with {done.returncode}; what it said last stands above")
        found = loss.losses(done.stdout, self.watch, self.series)
        if not found:
            raise Stopped(f"the script printed nothing like {self.watch.pattern!r}; tell by --watch what to look for")
        return found

    def reported(self, **variables):
        """The loss, and what became of each function."""
        path = self.folder / f"report{self.runs}.json"
        found = self.run(ANYNPU_REPORT=str(path), **variables)
        if not path.exists():
            return found, []
        return found, json.loads(path.read_text()).get("functions", [])
