# SPDX-License-Identifier: Apache-2.0
"""Records of a part of a program, in the vendor's form:

with npu.profiler.Profiler(level="L1", output_path="/tmp/profile"):
    train_step(batch)
"""

import json

from npu_device import device
from npu_device.adapter import library

__all__ = ["Profiler"]
LEVELS = {"L0": "l0", "L1": "l1", "L2": "l1"}


class Profiler:
    """Each use leaves a folder PROF_* in `output_path` (default: the current one), which `msprof --export=on` makes
    tables of. Level L0 records times, L1 and L2 what operators read and write too. `aic_metrics` names counters of the
    chip, which are not recorded; one line says so. RuntimeError where a collection runs already, ValueError where
    records cannot be written."""

    def __init__(self, *, level="L0", aic_metrics="", output_path=""):
        if level not in LEVELS:
            raise ValueError(f"level is {level!r}; write L0, L1 or L2")
        self._device = device.number()
        self._options = {"output": output_path or ".", "task_time": LEVELS[level], "aic_metrics": aic_metrics}

    def __enter__(self):
        device.open(self._device)
        if library.load().anynpu_profile_running():
            raise RuntimeError("a collection runs already (PROFILING_MODE, profiling_config, or another Profiler); "
                               "its records have this part too")  # fmt: skip
        code = library.load().anynpu_profile_start(json.dumps(self._options).encode(), self._device)
        if reason := library.reason_of(code):
            raise ValueError(reason)
        return self

    def __exit__(self, *_):
        if reason := library.reason_of(library.load().anynpu_profile_stop()):
            raise RuntimeError(reason)
