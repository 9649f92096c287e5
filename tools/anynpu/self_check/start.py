# SPDX-License-Identifier: Apache-2.0
"""Begins to look when torch_npu or npu_device is there. Imported only where ANYNPU_SELF_CHECK is set."""

import atexit
import os

from anynpu.library import door
from anynpu.nan_check.start import computes
from anynpu.self_check.watch import Watch, folder_of_cases


def begin():
    watch = Watch(os.getpid(), folder_of_cases(), door.save_task)
    door.watch_tasks(watch, int(os.environ.get("ANYNPU_SELF_CHECK_SAMPLE", "1")))
    atexit.register(lambda: computes() and watch.conclude())
