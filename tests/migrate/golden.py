# SPDX-License-Identifier: Apache-2.0
"""What migration makes of the scripts in scripts/: for each a unified diff, x.diff beside x.py. Two texts of one origin
are equal, byte for byte, where their diffs are: lines end with newlines only, and a last one without says so.

python golden.py writes all diffs anew; look at what git then shows."""

import difflib
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent / "scripts"
# What is trained on several devices, or in TensorFlow 1's sessions: the command line beside -i, -o and -r.
OPTIONS = {
    "distributed/contrib_cells": ["--tf1"],
    "distributed/hvd_custom_loop": ["-c", "-d", "horovod"],
    "distributed/hvd_keras_callbacks": ["-c", "-d", "horovod"],
    "distributed/hvd_keras_mnist": ["-c", "-d", "horovod"],
    "distributed/hvd_monitored_session": ["--tf1", "-d", "horovod"],
    "distributed/hvd_tensorflow_2": [],
    "distributed/mnist_estimator": ["--tf1"],
    "distributed/strategy_loop": ["-d", "tf_strategy"],
}


def lines(text):
    """In lines that all end: the last one says so where it does not in the text."""
    found = text.decode("latin-1").split("\n")
    last = found.pop()
    return [line + "\n" for line in found] + ([last + "\n\\ No newline at end of file\n"] if last else [])


def difference(before, after):
    made = difflib.unified_diff(lines(before), lines(after), "before", "after")
    return "".join(made).encode("latin-1")


def path(script):
    return script.with_suffix(".diff")


def arguments(name, source, out):
    """The command that migrates the folder `source` with this script in it."""
    script = SCRIPTS / f"{name}.py"
    if name.startswith("torch/"):
        return ["ms_fmk_transplt", "-i", source, "-o", out]
    main = [] if b"__main__" in script.read_bytes() else ["-m", source / script.name]
    return ["convert_tf2npu", "-i", source, "-o", out, "-r", out / "report", *main, *OPTIONS.get(name, [])]


def write_all():
    import tempfile

    import binary

    for script in sorted(SCRIPTS.glob("*/*.py")):
        with tempfile.TemporaryDirectory() as folder:
            source, out = Path(folder) / "source", Path(folder) / "out"
            source.mkdir(), out.mkdir()
            (source / script.name).write_bytes(script.read_bytes())
            name = f"{script.parent.name}/{script.stem}"
            done = binary.migrate(*arguments(name, source, out), folder=folder)
            (made,) = out.rglob(script.name)
            path(script).write_bytes(difference(script.read_bytes(), made.read_bytes()))
            print(name, done.returncode)


if __name__ == "__main__":
    sys.exit(write_all())
