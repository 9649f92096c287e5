# SPDX-License-Identifier: Apache-2.0
"""op_debug_config: a file with what is to be looked at while operators run."""

import os
import warnings
from pathlib import Path

# Files that the vendor's compiler of kernels would leave, and how it would compile: nothing is compiled here.
OF_KERNELS = ("dump_bin", "dump_cce", "dump_loc", "ccec_O0", "ccec_g")
WORDS = ("oom", *OF_KERNELS)


def words(path):
    """What the file asks for; ValueError where it cannot be read, or asks for something else."""
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as reason:
        raise ValueError(f"option op_debug_config: {path} cannot be read ({reason}); name a file of text") from None
    name, _, listed = text.strip().partition("=")
    found = [word.strip() for word in listed.split(",")]
    if name.strip() != "op_debug_config" or not all(word in WORDS for word in found):
        raise ValueError(f"option op_debug_config: {path} has {text.strip()!r}; write op_debug_config = and, with "
                         f"commas between them, words of {', '.join(WORDS)}")  # fmt: skip
    return found


def start(options):
    """Puts it in force; before the first device is opened, for its memory is one way or the other."""
    if options.op_debug_config is None:
        return
    found = words(options.op_debug_config)
    if "oom" in found:
        os.environ["ANYNPU_GUARD"] = "1"
    if without := [word for word in found if word in OF_KERNELS]:
        warnings.warn(
            f"op_debug_config: {', '.join(without)} changes nothing: there are no compiled kernels, so there are no "
            "files of them",
            stacklevel=4,
        )
