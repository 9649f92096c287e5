# SPDX-License-Identifier: Apache-2.0
"""Models trained in a process of their own: `plain.py FOLDER STEPS` reads the variables to begin with from NAME.npz and
writes the losses of all steps to NAME.npy."""

import pathlib
import sys

import driven
import models
import numpy as np

import conftest  # noqa: F401  before all that uses TensorFlow


def main(folder, steps):
    for file in folder.glob("*.npz"):
        start = list(np.load(file).values())
        np.save(file.with_suffix(".npy"), driven.losses(file.stem, models.Model(file.stem), start, steps))


main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
