# SPDX-License-Identifier: Apache-2.0
"""The dump files below precision_data, and their tensors as arrays of NumPy."""

import csv
from pathlib import Path

from .config import config as cfg
from .toolkit import PrecisionError, look, run

RUNS = ("debug_0", "debug_1")


def spelled(name):
    """An operator's name as names of files have it."""
    for sign in "/\\. ":
        name = name.replace(sign, "_")
    return name


def root(run_name):
    """The folder of a run's newest dump, {time}; None for no dump."""
    folder = Path(cfg.NPU_DIR, run_name, "dump")
    times = sorted(path for path in folder.glob("*") if path.is_dir()) if folder.is_dir() else []
    return times[-1] if times else None


def steps(run_name):
    """{graph's name: the folders of its steps} of a run's newest dump, of the first device that has some."""
    newest = root(run_name)
    found = {}
    for folder in sorted(newest.glob("*/*/*/*")) if newest else []:
        if folder.is_dir():
            found.setdefault(folder.parts[-3], []).append(folder)
    for name, folders in found.items():
        device = folders[0].parts[-4]
        found[name] = sorted((f for f in folders if f.parts[-4] == device), key=lambda f: (len(f.name), f.name))
    return found


def names(folder):
    """{file: the name that it should have}: long names are numbers, and mapping.csv knows them."""
    table = folder / "mapping.csv"
    long = dict(csv.reader(table.open(newline=""))) if table.exists() else {}
    return {path: long.get(path.name, path.name) for path in sorted(folder.iterdir()) if path.is_file()}


def of_operator(run_name, op_name):
    """The dump files of an operator, in the order of steps."""
    wanted = spelled(op_name)
    return [path for folders in steps(run_name).values() for folder in folders
            for path, name in names(folder).items() if name.split(".")[1:2] == [wanted]]  # fmt: skip


def golden(op_name):
    """The arrays that another framework's run left of an operator."""
    folder = Path(cfg.TF_DUMP_DIR)
    return sorted(folder.glob(f"{spelled(op_name)}.*.npy")) if folder.is_dir() else []


def decode(path, folder, form=None):
    """A dump file's tensors as arrays of NumPy, which lie in `folder`."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    run(
        "msaccucmp.py", "convert", "-d", path, "-out", folder, *(["-f", form, "-t", "msnpy"] if form else ["-t", "npy"])
    )
    return sorted(Path(folder).glob(f"{path.name}.*.npy"))


def ranges(arrays):
    """The lines that tell what arrays hold."""
    return look("summary", "-d", *arrays).splitlines() if arrays else []


def array(name):
    """The file of an array that is named by its path, or by its name alone wherever the tool has put it."""
    if Path(name).is_file():
        return Path(name)
    places = (cfg.DECODE_DIR, cfg.TF_DIR)
    found = [path for place in places for path in sorted(Path(place).rglob("*.npy")) if path.name == name]
    if not found:
        raise PrecisionError(f"{name} is no file, nor one below {' or '.join(places)}; ni OPERATOR and ac make arrays")
    return found[-1]
