# SPDX-License-Identifier: Apache-2.0
"""Where the guides for PyTorch look for the migration tool: the command ms_fmk_transplt, by another way."""

from anynpu.subcommand.migrate import ms_fmk_transplt

ms_fmk_transplt()
