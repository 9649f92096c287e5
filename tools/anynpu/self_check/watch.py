# SPDX-License-Identifier: Apache-2.0
"""Tells of each kind of operator that deviates, once, and at the end of what was looked at and what was not. A task is
an operator outside of graphs, or a node of a graph; a node is covered when all operators that it ran are."""

import json
import os
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from anynpu.fallback import line
from anynpu.fallback.count import place
from anynpu.fallback.report import distinct, plural
from anynpu.nan_check.watch import node_of_autograd
from anynpu.self_check.compare import compare
from anynpu.self_check.element import UnknownError
from anynpu.self_check.task import Task

BEGINNING = "anynpu run --self-check"
NO_OPERATOR = "runs no operator of ours"
SKIPPED = "skipped"
COVERED = "covered"


def named(task):
    """Who it was, in the user's words."""
    who = task.type if task.node in ("", task.type) else f"{task.type} node '{task.node}'"
    if len(task.origins) > 1:
        who += f" ({', '.join(task.origins)})"
    return f"{who} in step {task.step}" if task.graph else who


def described(task, found):
    shape = "x".join(map(str, task.tensors[found.tensor]["shape"]))
    operators = ", ".join(dict.fromkeys(task.called))
    inside = f" [{operators}]" if operators else ""
    return (
        f"{named(task)}{inside} deviates: {found.dtype}[{shape}], {found.elements} of {found.count} elements, worst "
        f"{found.ulps:.4g} ULP at {list(found.index)}: {found.is_!r}, should be {found.should_be!r}"
    )


class Watch:
    def __init__(self, begun_by, folder, save, write=None):
        self.begun_by, self.folder, self.save = begun_by, folder, save
        self.write = write or sys.stderr.write
        self.lock = threading.Lock()
        self.inside = threading.local()  # of the node that runs: what became of its operators
        self.tasks, self.missing, self.told = Counter(), Counter(), set()

    def __call__(self, raw):
        self.look(Task(raw))

    def look(self, task):
        if task.within:
            if not task.skipped:
                self.pending().append(self.outcome(task))
            return
        pending, self.inside.all = self.pending(), []
        if task.skipped:
            self.count(SKIPPED, task.type)
        elif task.operator:
            self.count(self.outcome(task), task.called[0] if task.called else task.type)
        elif "assigned" in task.text:
            self.count(self.assigned(task), task.type)
        else:
            ran = [self.outcome(task)] if "parts" in task.text else pending
            self.count(next((one for one in ran if one != COVERED), COVERED if ran else NO_OPERATOR), task.type)

    def assigned(self, task):
        """A variable holds what was assigned to it, bit by bit."""
        value, now = (task.blobs[task.tensors[i]["before"]] for i in task.assigned)
        return COVERED if value == now else "the variable does not hold what was assigned"

    def pending(self):
        if not hasattr(self.inside, "all"):
            self.inside.all = []
        return self.inside.all

    def count(self, outcome, name):
        with self.lock:
            self.tasks[outcome if outcome in (SKIPPED, COVERED) else "uncovered"] += 1
            if outcome not in (SKIPPED, COVERED):
                self.missing[name, outcome] += 1

    def outcome(self, task):
        try:
            found = compare(task)
        except UnknownError as reason:
            return str(reason)
        except Exception as error:  # a fault of the check is no fault of the script
            return f"the check failed: {error!r}"
        if found is not None:
            self.tell(task, found)
        return COVERED

    def tell(self, task, found):
        kind = (task.type, tuple(task.called))
        with self.lock:
            if kind in self.told:
                return
            self.told.add(kind)
            number = len(self.told)
        node = node_of_autograd()
        where = place({"line": line.current(bool(node)), "backward": node})
        text = f"{described(task, found)}, at {where}"
        folder = self.folder / f"{number:03}_{task.type}"
        self.save(task.raw, folder, json.dumps({"text": text, **asdict(found)}, default=str))
        self.say(f"{text}; again with: anynpu dump replay {folder}")

    def conclude(self):
        looked, skipped = self.tasks[COVERED], self.tasks[SKIPPED]
        total = sum(self.tasks.values()) - skipped
        share = f"{100 * looked / total:.1f} %" if total else "none"
        kinds = plural(len(self.told), "kind")
        self.say(f"{looked} of {plural(total, 'task')} checked ({share}), {kinds} of operators deviated")
        if skipped:
            self.say(f"{plural(skipped, 'task')} left out by --self-check-sample")
        for (name, reason), runs in self.missing.most_common():
            self.say(f"not checked: {name}, {plural(runs, 'run')}: {reason}")

    def say(self, text):
        name = distinct(self.begun_by)
        self.write(f"{BEGINNING}{f' ({name})' if name else ''}: {text}\n")


def folder_of_cases():
    return Path(os.environ.get("ANYNPU_SELF_CHECK_CASES") or tempfile.gettempdir()) / f"anynpu-self-check-{os.getpid()}"
