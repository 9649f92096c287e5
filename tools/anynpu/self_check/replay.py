# SPDX-License-Identifier: Apache-2.0
"""A saved case: what was written then and what the device writes now, both against the reference."""

from anynpu.library import door
from anynpu.self_check.compare import compare
from anynpu.self_check.element import UnknownError
from anynpu.self_check.task import Task
from anynpu.self_check.watch import described


def verdict(task):
    try:
        found = compare(task)
    except UnknownError as reason:
        return False, f"not checked: {reason}"
    return found is not None, described(task, found) if found else f"{task.type} is as the reference"


def replay(folder):
    """True where it deviates again."""
    verdicts = []
    door.replay_task(folder, lambda raw: verdicts.append(verdict(Task(raw))))
    for when, (_, text) in zip(("then", "now"), verdicts, strict=True):
        print(f"{when}: {text}")
    return verdicts[-1][0]
