# SPDX-License-Identifier: Apache-2.0
"""`python -m anynpu`."""

import sys

from anynpu.command import main

sys.exit(main())
