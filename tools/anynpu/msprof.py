# SPDX-License-Identifier: Apache-2.0
"""The vendor's command msprof. A program of its own does the work (tools/profile); this starts it."""

import os
import sys

from anynpu.library import place


def main():
    try:
        os.execv(place.profiler() / "msprof", ["msprof", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"msprof: {error}")


if __name__ == "__main__":
    main()
