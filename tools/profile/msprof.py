#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The vendor's script for what msprof has collected: msprof.py export timeline|summary -dir FOLDER. Here one export
writes both; this starts it."""

import argparse
import os
import sys
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(prog="msprof.py", description=__doc__)
    parser.add_argument("action", choices=["export"], help="what to do")
    parser.add_argument("kind", choices=["timeline", "summary"], help="of what; both are written")
    parser.add_argument("-dir", "--collection-dir", dest="folder", required=True, metavar="FOLDER", help="PROF_…")
    folder = parser.parse_args().folder
    program = Path(__file__).resolve().parents[3] / "bin/msprof"
    try:
        os.execv(program, ["msprof", "--export=on", f"--output={folder}"])
    except OSError as error:
        sys.exit(f"msprof.py: {program}: {error}")


if __name__ == "__main__":
    main()
