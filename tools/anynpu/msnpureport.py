# SPDX-License-Identifier: Apache-2.0
"""The vendor's tool for the logs that a card writes: sets their level (-g), switches their events (-e), fetches them.
A software NPU is part of its process and writes into the log of that process, so there is nothing to set or to fetch;
this says so. Scripts of the vendor's guides call it for each device before they train."""

import argparse
import sys

from anynpu.output import pipe

LEVELS = ("error", "warning", "info", "debug", "null", "event")
SET = (
    "msnpureport: device {device} writes no log of its own; {what} of the process's log is set by {variable} and stays "
    "as it is"
)


def parser():
    out = argparse.ArgumentParser(prog="msnpureport", description=__doc__)
    out.add_argument("-g", dest="level", choices=LEVELS, help="level of all modules")
    out.add_argument("-m", dest="module", metavar="MODULE:LEVEL", help="level of one module")
    out.add_argument("-e", dest="events", choices=["enable", "disable"], help="events")
    out.add_argument("-d", dest="device", type=int, default=0, help="the device")
    return out


def execute():
    options = parser().parse_args()
    told = [
        ("the level", "ASCEND_GLOBAL_LOG_LEVEL", options.level),
        ("the level", "ASCEND_MODULE_LOG_LEVEL", options.module),
        ("what becomes of events", "ASCEND_GLOBAL_EVENT_ENABLE", options.events),
    ]
    if not any(value for _, _, value in told):
        print("msnpureport: there are no logs of a device to fetch; those of processes are in ASCEND_PROCESS_LOG_PATH, "
              "else in ~/ascend/log", file=sys.stderr)  # fmt: skip
        return 1
    for what, variable, value in told:
        if value:
            print(SET.format(device=options.device, what=what, variable=variable))
    return 0


def main():
    """The command msnpureport."""
    return pipe.until_the_reader_leaves(execute)
