# SPDX-License-Identifier: Apache-2.0
"""Migrates scripts written for GPUs to the NPU, TensorFlow and PyTorch: a file, a folder, or - for stdin. The work is
done by a program of its own, which this starts; `anynpu migrate --help` prints its options. convert_tf2npu and
ms_fmk_transplt are the same program with the command lines of the vendor's tools.
(docs/migrate.md tells more.)"""

import os
import sys

from anynpu.library import place


def start(name, arguments):
    """Becomes the program, which chooses its command line by the name it is called by."""
    os.execv(place.migration(), [name, *arguments])


def add_arguments(parser):
    from argparse import REMAINDER  # slow; the command itself leaves all arguments to the program

    parser.add_argument("arguments", nargs=REMAINDER, help="those of the program")


def execute(options):
    start("migrate", options.arguments)


def convert_tf2npu():
    try:
        start("convert_tf2npu", sys.argv[1:])
    except OSError as error:
        sys.exit(f"convert_tf2npu: {error}")


def convert_tf1():
    """convert_tf2npu as the vendor's package for TensorFlow 1 has it."""
    try:
        start("npu_bridge.convert_tf2npu", sys.argv[1:])
    except OSError as error:
        sys.exit(f"convert_tf2npu: {error}")


def ms_fmk_transplt():
    try:
        start("ms_fmk_transplt", sys.argv[1:])
    except OSError as error:
        sys.exit(f"ms_fmk_transplt: {error}")
