# SPDX-License-Identifier: Apache-2.0
"""Begins to observe when torch_npu is there. Imported only where ANYNPU_REPORT or ANYNPU_STRICT is set."""

import atexit
import os
import sys
import threading
from multiprocessing import util

from anynpu.fallback.count import Counts
from anynpu.fallback.report import OFF, is_child, write


class Session:
    """What was counted, told once when the process ends."""

    def __init__(self, where):
        self.where, self.begun_by, self.told = where, os.getpid(), False
        self.counts = Counts()

    def tell(self):
        import torch

        another = is_child() or os.getpid() != self.begun_by
        if self.told or another and not torch.npu.is_initialized():
            return  # a worker that only loads data
        self.told = True
        write(self.where, self.counts.listed(), self.begun_by)

    def begin_in_child(self):
        self.told = False
        self.counts.clear()


def end_of_child(session):
    """multiprocessing ends a forked child without Python's own end."""
    util.Finalize(session, session.tell, exitpriority=0)


def begin():
    from anynpu.fallback.observer import Observer  # it needs torch, which is there now

    where, strict = os.environ.get("ANYNPU_REPORT", ""), os.environ.get("ANYNPU_STRICT", "") not in OFF
    session = Session(where)
    observer = Observer(session.counts, strict)
    observer.__enter__()
    in_every_thread(observer)
    if where not in OFF:
        os.register_at_fork(after_in_child=session.begin_in_child)
        util.register_after_fork(session, end_of_child)
        atexit.register(session.tell)


def in_every_thread(observer):
    """A thread has its own modes; Python calls this in each before its first function."""

    def enter(*_):
        sys.setprofile(None)
        observer.__enter__()

    threading.setprofile(enter)
