# SPDX-License-Identifier: Apache-2.0
"""Compares the dumps of two runs and names the first operator that computes something else: `compare RUN GOLDEN`.
A program of its own does the work. (docs/precision.md tells more.)"""

import os

from anynpu.library import place


def add_arguments(parser):
    from argparse import REMAINDER  # slow; the command itself leaves all arguments to the program

    parser.add_argument("arguments", nargs=REMAINDER, help="those of the program")


def execute(options):
    os.execv(place.comparison(), ["anynpu compare", "runs", *options.arguments])
