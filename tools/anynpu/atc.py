# SPDX-License-Identifier: Apache-2.0
"""The vendor's command atc, as far as it is built. A program of its own does the work (tools/atc); this starts it."""

import os
import sys

from anynpu.library import place


def main():
    try:
        os.execv(place.conversion(), ["atc", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"atc: {error}")


if __name__ == "__main__":
    main()
