# SPDX-License-Identifier: Apache-2.0
"""Looks at data dumps: `list FOLDER` the operators of a dump, `show FILE…` what is in files (extremes, what is not
finite, a histogram), `convert` to arrays of NumPy, `overflow` which operators overflowed, `compare` with another run,
`digest A B` two runs by digests of all operators. `replay CASE` runs once more what `anynpu run --self-check` saved.
The rest is done by a program of its own, which this starts; it is also msaccucmp. (docs/precision.md tells more.)"""

import os

from anynpu.library import place


def add_arguments(parser):
    from argparse import REMAINDER  # slow; the command itself leaves all arguments to the program

    parser.add_argument("arguments", nargs=REMAINDER, help="those of the program")


def replay_of(folders):
    if len(folders) != 1:
        raise ValueError("anynpu dump replay takes one folder, which anynpu run --self-check named")
    from anynpu.self_check.replay import replay

    return 1 if replay(folders[0]) else 0


def execute(options):
    if options.arguments[:1] == ["replay"]:
        return replay_of(options.arguments[1:])
    return os.execv(place.comparison(), ["anynpu dump", *options.arguments])
