# SPDX-License-Identifier: Apache-2.0
"""op_debug_config, a file with what is to be looked at while operators run, op_debug_level, and debug_dir, which takes
the files of what was compiled."""

import os
import warnings
from pathlib import Path

from npu_device.adapter import library

# Kinds of files (anynpu_library_write_files).
FILES_OF_WORD = {"dump_bin": ("o", "json"), "dump_cce": ("cce",), "dump_loc": ("loc",)}
FILES_OF_LEVEL = {
    1: ("o", "json", "cce", "loc"),
    2: ("o", "json", "cce", "loc"),
    3: ("o", "json"),
    4: ("o", "json", "cce", "compute"),
}
PLAIN = "ccec_O0"  # nothing is optimised
WORDS = ("oom", *FILES_OF_WORD, PLAIN, "ccec_g")


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


def asked(options):
    """The words of op_debug_config's file."""
    return [] if options.op_debug_config is None else words(options.op_debug_config)


def wanted(options):
    """Whether somebody looks for errors."""
    return bool(options.op_debug_level) or options.op_debug_config is not None


def start(options):
    """Before the first device is opened, for its memory is one way or the other."""
    found = asked(options)
    if "oom" in found:
        os.environ["ANYNPU_GUARD"] = "1"
    if "ccec_g" in found:
        warnings.warn(
            "op_debug_config: ccec_g changes nothing: what was compiled knows the nodes it comes from anyway; dump_loc "
            "writes them down",
            stacklevel=4,
        )


def put_in_force(info, options):
    """On a device, after fusions are switched."""
    found = asked(options)
    if PLAIN in found or options.op_debug_level == 2:
        if options.fusion_switch_file:
            warnings.warn(f"{options.fusion_switch_file} does not count: debugging switches all fusions off",
                          stacklevel=5)  # fmt: skip
        library.switch_fusion(info, b"ALL:off")
    files = {kind for word in found for kind in FILES_OF_WORD.get(word, ())}
    files.update(FILES_OF_LEVEL.get(options.op_debug_level, ()))
    if files:
        library.write_files(info, sorted(files), options.debug_dir or "")
    elif options.debug_dir:
        warnings.warn("debug_dir changes nothing: set op_debug_level, or op_debug_config to a file with dump_bin, "
                      "dump_cce or dump_loc, and it takes their files", stacklevel=5)  # fmt: skip
