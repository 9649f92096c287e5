# SPDX-License-Identifier: Apache-2.0
"""Runs scripts one after the other, each in a process of its own that has the modules already:

python train.py MODULE,… < runs.json

Loading a framework takes seconds. So it is loaded once, opens no device, and is forked for each script. A run is
{"script", "folder", "log", "result", "report", "names_of_2_6"}: the script becomes `__main__` in the current folder
`folder`; what it prints goes to `log`; how it ended and how much it ran on NPUs to `result`, as JSON; the report of a
TensorFlow run on an NPU to `report`. It may also have "arguments" of the script and variables, "environment"."""

import importlib
import json
import os
import re
import runpy
import signal
import sys
import traceback
from types import SimpleNamespace

SECONDS = 300  # a script that takes longer hangs


def give_back_names_of_2_6():
    """What TensorFlow 2.15 has dropped of the interface of 2.6: its optimizers, which take `lr`, and the experimental
    names of mixed precision."""
    optimizers = importlib.import_module("tensorflow.keras.optimizers")
    for name in ("SGD", "Adam", "RMSprop"):
        setattr(optimizers, name, getattr(optimizers.legacy, name))
    mixed = importlib.import_module("tensorflow.keras.mixed_precision")
    mixed.experimental = SimpleNamespace(
        Policy=mixed.Policy, set_policy=mixed.set_global_policy, global_policy=mixed.global_policy
    )


def tasks():
    """How many tasks this process ran on NPUs; None where it never loaded their library."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        loaded = re.search(r"/.*/libanynpu\.so$", maps.read(), re.MULTILINE)
    if not loaded:
        return None
    os.environ["ANYNPU_LIBRARY"] = loaded[0]  # the same copy of it
    from anynpu.library import door

    return sum(usage.tasks for usage in door.usages() if usage.pid == os.getpid() and usage.device >= 0)


def become(run):
    """In the child: runs the script as if the process had been started with it."""
    signal.alarm(SECONDS)
    log = os.open(run["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.chdir(run["folder"])
    os.environ.update(run.get("environment", {}))
    if "report" in run:
        os.environ["ANYNPU_REPORT"] = run["report"]
    if run.get("names_of_2_6"):
        give_back_names_of_2_6()
    sys.argv, status = [run["script"], *run.get("arguments", [])], 0
    sys.path[0] = os.path.dirname(run["script"])
    try:
        runpy.run_path(run["script"], run_name="__main__")
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    with open(run["result"], "w", encoding="utf-8") as file:
        json.dump({"status": status, "tasks": tasks()}, file)


def main():
    for name in sys.argv[1].split(","):
        importlib.import_module(name)
    for run in json.load(sys.stdin):
        child = os.fork()
        if child == 0:
            return become(run)  # and the interpreter ends as it does after any script
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
