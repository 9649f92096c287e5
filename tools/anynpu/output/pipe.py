# SPDX-License-Identifier: Apache-2.0
"""What commands print: readers that leave early, as in `anynpu ops | head`, and streams that take ASCII alone."""

import codecs
import os
import signal
import sys

# What commands print beside ASCII, and how it is written where a stream cannot take it.
IN_ASCII = {"…": "...", "·": "."} | dict(zip("▁▂▃▄▅▆▇█", ".:-=+*%#", strict=True))


def in_ascii(error):
    """An error handler of codecs: names that no stream can take appear as Python writes them, \\xe9."""
    if isinstance(error, UnicodeDecodeError):  # a stream that is read back as well, as the one of a test
        return codecs.replace_errors(error)
    text = error.object[error.start : error.end]
    return "".join(IN_ASCII.get(c) or c.encode("ascii", "backslashreplace").decode() for c in text), error.end


def take_all_text():
    """stdout and stderr take every text from here on, whatever their encoding is."""
    codecs.register_error("anynpu", in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="anynpu")


def until_the_reader_leaves(body):
    """The exit code of body(). Where nobody reads on, the command ends without a word and with the code of SIGPIPE, as
    commands of the system do."""
    take_all_text()
    try:
        try:
            return body()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python writes what it still holds when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
