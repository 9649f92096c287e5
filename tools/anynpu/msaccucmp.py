# SPDX-License-Identifier: Apache-2.0
"""The vendor's tool that compares dumps. A program of its own does the work (tools/compare); this starts it."""

import os
import sys

from anynpu.library import place


def main():
    try:
        os.execv(place.comparison(), ["msaccucmp", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"msaccucmp: {error}")


if __name__ == "__main__":
    main()
