# SPDX-License-Identifier: Apache-2.0
"""Warnings that come once in a process, at the line of the program that led to them."""

import sys
import warnings

LIBRARIES = ("npu_device", "npu_bridge", "tensorflow", "tensorflow_estimator", "keras", "contextlib")
_told = set()


def once(what, text):
    """Warns with `text`, unless it warned of `what`, any value that tells them apart, before."""
    if what not in _told:
        _told.add(what)
        warnings.warn(text, stacklevel=_level())


def _level():
    """How far above once() the first line is that belongs to no library."""
    frame, level = sys._getframe(2), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in LIBRARIES:
        frame, level = frame.f_back, level + 1
    return level
