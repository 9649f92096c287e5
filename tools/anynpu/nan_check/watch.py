# SPDX-License-Identifier: Apache-2.0
"""Tells of the first operator that made what is not finite: of the first one in forward, and of one in backward where
that came earlier (with a loss scale, infinite gradients are how it is found too large)."""

import sys
import threading

from anynpu.fallback import line
from anynpu.fallback.count import place
from anynpu.fallback.report import distinct

BEGINNING = "anynpu run --nan-check"


def node_of_autograd():
    """Who calls in a backward pass of PyTorch; empty outside one."""
    if "torch" not in sys.modules:
        return ""
    from anynpu.fallback import observer

    return observer.node_of_autograd()


class Watch:
    """Called for each operator found, in the thread that called it, until the first in forward has been told."""

    def __init__(self, begun_by, end, write=None):
        self.begun_by, self.end = begun_by, end
        self.write = write or sys.stderr.write
        self.lock = threading.Lock()
        self.told = set()  # of "forward" and "backward"

    def __call__(self, found):
        node = node_of_autograd()
        if not self.is_first("backward" if node else "forward"):
            return
        where = place({"line": line.current(bool(node)), "backward": node})
        self.say(f"{found.text}, at {where}")
        if not node:
            self.end()

    def is_first(self, which):
        with self.lock:
            if which in self.told or "forward" in self.told:
                return False
            self.told.add(which)
            return True

    def conclude(self):
        if not self.told:
            self.say("no operator made an infinity or NaN of finite inputs")

    def say(self, text):
        name = distinct(self.begun_by)
        self.write(f"{BEGINNING}{f' ({name})' if name else ''}: {text}\n")
