# SPDX-License-Identifier: Apache-2.0
"""Output whose reader may leave early, as in `anynpu ops | head`."""

import os
import signal
import sys


def until_the_reader_leaves(body):
    """The exit code of body(). Where nobody reads on, the command ends without a word and with the code of SIGPIPE, as
    commands of the system do."""
    try:
        try:
            return body()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python writes what it still holds when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
