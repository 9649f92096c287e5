# SPDX-License-Identifier: Apache-2.0
"""Where the guides look for msaccucmp.py below the toolkit's folder: the command of that name, by another way."""

from anynpu.msaccucmp import main

main()
