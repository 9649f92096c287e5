# SPDX-License-Identifier: Apache-2.0
"""The line of the user's own code that is being run: the innermost that is not of a package or of Python itself."""

import os
import sys
import sysconfig
from pathlib import Path

PATHS = sysconfig.get_paths()
INSTALLED = tuple({f"{PATHS[name]}{os.sep}" for name in ("stdlib", "platstdlib", "purelib", "platlib")})
OURS = f"{Path(__file__).resolve().parents[1]}{os.sep}"
RUNS_BACKWARD = "_engine_run_backward"  # the function of torch that waits while autograd's threads work


def is_users(frame):
    name = frame.f_code.co_filename
    return not name.startswith((*INSTALLED, OURS, "<frozen", "<eval_with_key>"))


def callers(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def line_of(frame):
    """file:line of the innermost of the user's own frames, else None."""
    for one in callers(frame):
        if is_users(one):
            return f"{one.f_code.co_filename}:{one.f_lineno}"
    return None


def outside_torch(frame):
    """For a program that is all of installed packages: the innermost line that is not torch's."""
    for one in callers(frame):
        package = one.f_globals.get("__name__", "").split(".")[0]
        if package not in ("torch", "torch_npu", "anynpu", "threading"):
            return f"{one.f_code.co_filename}:{one.f_lineno}"
    return None


def waits(frame):
    return any(one.f_code.co_name == RUNS_BACKWARD for one in callers(frame))


def that_ran_backward():
    """Autograd works in threads of its own, without Python: the line that started it, if one alone did."""
    waiting = [top for top in sys._current_frames().values() if waits(top)]
    return line_of(waiting[0]) or outside_torch(waiting[0]) if len(waiting) == 1 else None


def current(backward):
    frame = sys._getframe(1)
    return line_of(frame) or (that_ran_backward() if backward else None) or outside_torch(frame)
