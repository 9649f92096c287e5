# SPDX-License-Identifier: Apache-2.0
"""`pt`, `cp`, `dc`: arrays shown, compared, and made of dump files."""

from pathlib import Path

from . import dump
from .config import config as cfg
from .toolkit import PrecisionError, look


def show(name):
    """`pt`: shape, type and range of one array, whose elements go into a text beside it."""
    path = dump.array(name)
    print(look("summary", "-d", path, "-txt", f"{path}.txt"), end="")


def compare(names, count, absolute, relative, save):
    """`cp`: where two arrays differ by more than is allowed."""
    paths = [dump.array(name) for name in names]
    folder = Path(cfg.DECODE_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    print(look("difference", "-n", *paths, "-p", count, "-al", absolute, "-rl", relative,
               *(["-txt", folder] if save else [])), end="")  # fmt: skip


def convert(name, form=None, folder=None):
    """`dc`: the arrays of a dump file, or of all of an operator."""
    files = [Path(name)] if Path(name).is_file() else dump.of_operator(dump.RUNS[0], name)
    if not files:
        raise PrecisionError(f"{name} is neither a dump file nor an operator with one below {cfg.DEFAULT_NPU_DUMP_DIR}")
    for path in files:
        print("\n".join(dump.ranges(dump.decode(path, folder or cfg.DUMP_CONVERT_DIR, form))))


def show_files():
    """`ls dump`: the operators of the newest dump of each run."""
    for run_name in dump.RUNS:
        for folders in dump.steps(run_name).values():
            for folder in folders:
                print(f"{folder}\n{look('list', folder)}", end="")
