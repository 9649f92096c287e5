# SPDX-License-Identifier: Apache-2.0
"""The dump's switch and its folder."""

import atexit
import os

from tfdbg_ascend import eager, library, traced

_path = ""


def enable():
    """Dumps from now on what is executed; after a dump that could not write, anew."""
    library.load().tfdbg_ascend_set_on(True)
    eager.listen()


def disable():
    """Dumps no more; returns when all that was to be written is written."""
    library.load().tfdbg_ascend_set_on(False)
    eager.ignore()
    library.load().tfdbg_ascend_finish()


def get_dump_switch():
    """Whether it is on; a dump that could not write a file is off."""
    return library.load().tfdbg_ascend_is_on()


def set_dump_path(path):
    """Files go to this folder from now on; it is made where it is missing."""
    global _path
    path = os.path.abspath(os.fspath(path))
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as reason:
        raise ValueError(f"set_dump_path: {path} cannot be made: {reason.strerror}; choose another folder") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise ValueError(f"set_dump_path: {path} cannot be written by this user; choose another folder")
    _path = path
    library.load().tfdbg_ascend_set_folder(os.fsencode(path))


def get_dump_path():
    """Where files go."""
    return _path


def start():
    """Once, by the import: on, into the current folder, which need not be writable before something is dumped."""
    global _path
    _path = os.getcwd()
    library.load().tfdbg_ascend_set_folder(os.fsencode(_path))
    traced.watch()
    atexit.register(library.load().tfdbg_ascend_finish)
    enable()
