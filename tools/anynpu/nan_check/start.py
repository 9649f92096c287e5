# SPDX-License-Identifier: Apache-2.0
"""Begins to look when torch_npu or npu_device is there. Imported only where ANYNPU_NAN_CHECK is set."""

import atexit
import os
import sys

from anynpu.fallback.report import is_child
from anynpu.library import door
from anynpu.nan_check.watch import Watch


def computes():
    """False for a process that only loads data."""
    torch = sys.modules.get("torch")
    return not is_child() if torch is None else torch.npu.is_initialized()


def begin():
    watch = Watch(os.getpid(), lambda: door.watch_nonfinite(None))
    door.watch_nonfinite(watch)
    atexit.register(lambda: computes() and watch.conclude())
