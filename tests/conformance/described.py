# SPDX-License-Identifier: Apache-2.0
"""Importing this reads every description of the folder into case.CASES, once for all that use them."""

import pathlib
import runpy

for description in sorted(pathlib.Path(__file__).parent.glob("describe_*.py")):
    runpy.run_path(str(description))
