# SPDX-License-Identifier: Apache-2.0
"""The option fusion_switch_file: which fusion passes of the engine run."""

import warnings
from pathlib import Path

from npu_device import library


def read_switch_file(path):
    """The file's bytes; ValueError when it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ValueError(
            f"option fusion_switch_file is {path!r}: {error.strerror}; name a file that can be read"
        ) from None


def switch(info, path, text):
    """Puts the switches of this file in force. A name that is no pass here has no effect, and a warning says so."""
    try:
        unknown = library.switch_fusion(info, text)
    except ValueError as error:
        raise ValueError(f"option fusion_switch_file is {path!r}, {error}") from None
    if unknown:
        warnings.warn(
            f"{path} names fusion passes that are not here, without effect: {', '.join(unknown)}", stacklevel=5
        )
