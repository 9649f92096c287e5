# SPDX-License-Identifier: Apache-2.0
"""What `anynpu launch` and its members on other hosts say to each other: lines of JSON through a pipe, which an agent
(ssh) carries. A launcher's first line is the job, each later one a signal for a rank; the end of its lines ends the
ranks. A member greets, then tells of each rank that it has started, has written and has ended, and that it lives."""

import json
import os

BEAT = 2.0  # seconds between two signs of life of a member


def line(**message):
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def text(data):
    """Bytes as JSON may carry them; data() is the way back."""
    return data.decode("latin-1")


def data(carried):
    return carried.encode("latin-1")


class Reader:
    """Messages from a descriptor that does not wait."""

    def __init__(self, descriptor):
        self.descriptor, self.part, self.ended = descriptor, b"", False
        os.set_blocking(descriptor, False)

    def read(self):
        """Those that have come, as dictionaries; what is none is handed on as {"noise": line}: agents and login
        scripts talk."""
        while not self.ended:
            try:
                new = os.read(self.descriptor, 1 << 16)
            except BlockingIOError:
                break
            self.part += new
            self.ended = not new
        *lines, self.part = self.part.split(b"\n")
        return [self.parse(each) for each in lines]

    @staticmethod
    def parse(one):
        try:
            found = json.loads(one)
        except ValueError:
            found = None
        return found if isinstance(found, dict) else {"noise": one.decode(errors="replace")}
