# SPDX-License-Identifier: Apache-2.0
"""The vendor's tool for the logs that a card writes: sets their level (-g), switches their events (-e), fetches them.
A software NPU is part of its process, which decides by its own environment what is logged, so there is nothing to set,
and this says so. Without an option the log files of all processes are copied to a folder called after the time.
Scripts of the vendor's guides call it for each device before they train."""

import argparse
import sys
from pathlib import Path

from anynpu.output import pipe, plog
from anynpu.subcommand import logs

LEVELS = ("error", "warning", "info", "debug", "null", "event")
SET = (
    "msnpureport: device {device} logs as its process does; {what} of the process's log is set by {variable} and stays "
    "as it is"
)


def parser():
    out = argparse.ArgumentParser(prog="msnpureport", description=__doc__)
    out.add_argument("-g", dest="level", choices=LEVELS, help="level of all modules")
    out.add_argument("-m", dest="module", metavar="MODULE:LEVEL", help="level of one module")
    out.add_argument("-e", dest="events", choices=["enable", "disable"], help="events")
    out.add_argument("-d", dest="device", type=int, default=0, help="the device")
    return out


def fetch():
    files = plog.files(plog.root())
    if not files:
        print(f"msnpureport: no process has left a log in {plog.root()}; ASCEND_PROCESS_LOG_PATH names another folder",
              file=sys.stderr)  # fmt: skip
        return 1
    print(f"msnpureport: {len(files)} log files are in {logs.export(files, Path('.'))}")
    return 0


def execute():
    options = parser().parse_args()
    told = [
        ("the level", "ASCEND_GLOBAL_LOG_LEVEL", options.level),
        ("the level", "ASCEND_MODULE_LOG_LEVEL", options.module),
        ("what becomes of events", "ASCEND_GLOBAL_EVENT_ENABLE", options.events),
    ]
    if not any(value for _, _, value in told):
        return fetch()
    for what, variable, value in told:
        if value:
            print(SET.format(device=options.device, what=what, variable=variable))
    return 0


def main():
    """The command msnpureport."""
    return pipe.until_the_reader_leaves(execute)


if __name__ == "__main__":
    sys.exit(main())
