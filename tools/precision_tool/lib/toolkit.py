# SPDX-License-Identifier: Apache-2.0
"""The programs that compute: atc and msaccucmp of the toolkit, and `anynpu dump`. And how the tool speaks."""

import datetime
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from .config import config as cfg

LEVELS = {"NOTSET": 0, "DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40}


class PrecisionError(Exception):
    """What ends a command: the reason and the cure."""


def say(level, text):
    """A line beside the results, in the form that the guides show."""
    if LEVELS[level] >= LEVELS.get(cfg.LOG_LEVEL, 0):
        print(f"{datetime.datetime.now():%Y-%m-%d %H:%M:%S} ({os.getpid()}) -[{level}]{text}", flush=True)


@cache
def find(name):
    """The words that start a program: one below CMD_ROOT_PATH, else one in PATH or beside this Python."""
    root = Path(cfg.CMD_ROOT_PATH)
    below = sorted(path for path in root.rglob(name) if path.is_file()) if cfg.CMD_ROOT_PATH and root.is_dir() else []
    path = str(below[0]) if below else shutil.which(name) or shutil.which(name, path=os.path.dirname(sys.executable))
    if path is None:
        raise PrecisionError(
            f"{name} is neither below CMD_ROOT_PATH ({cfg.CMD_ROOT_PATH}) nor in PATH; set CMD_ROOT_PATH in "
            "precision_tool/lib/config/config.py to the folder of the toolkit, or activate the environment with AnyNPU"
        )
    return [sys.executable, path] if path.endswith(".py") and below else [path]


def run(name, *arguments, allowed=(0,)):
    """The output of a program that did its work; PrecisionError with what it said where it did not."""
    command = [*find(name), *map(str, arguments)]
    say("DEBUG", " ".join(command))
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in allowed:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        wrong = [line for line in said if "ERROR" in line or "error" in line] or said[-1:]
        raise PrecisionError(f"{name} {' '.join(map(str, arguments))} ends with {done.returncode}: {' '.join(wrong)}")
    return done.stdout


def look(*arguments):
    """What `anynpu dump` says of files."""
    return run("anynpu", "dump", *arguments)
