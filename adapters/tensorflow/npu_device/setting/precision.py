# SPDX-License-Identifier: Apache-2.0
"""The options of precision: which nodes of a graph compute in another dtype than it says."""

import warnings
from pathlib import Path

from npu_device.adapter import library

MODES = ("precision_mode", "precision_mode_v2")
FILES = ("modify_mixlist", "customize_dtypes", "op_precision_mode")


def read(options):
    """The set options as (name, value, bytes for the engine); ValueError for a file that cannot be read."""
    modes = [(name, getattr(options, name)) for name in MODES if getattr(options, name)] or [(MODES[0], "")]
    found = [(name, mode, mode.encode()) for name, mode in modes]
    for name in FILES:
        path = getattr(options, name)
        if path is None:
            continue
        try:
            found.append((name, path, Path(path).read_bytes()))
        except OSError as error:
            raise ValueError(f"option {name} is {path!r}: {error.strerror}; name a file that can be read") from None
    return found


def put_in_force(info, settings):
    """What read() gave, on a device. ValueError where the engine refuses one, with line and column of a file; a warning
    for each thing in a file that has no effect."""
    for name, value, text in settings:
        try:
            notices = library.set_precision(info, name, text)
        except ValueError as error:
            raise ValueError(f"option {name} is {value!r}: {error}" if name in FILES else f"option {error}") from None
        for notice in notices:
            warnings.warn(f"{name} {value}: {notice}", stacklevel=6)
