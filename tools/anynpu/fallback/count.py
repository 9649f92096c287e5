# SPDX-License-Identifier: Apache-2.0
"""What is known of an operator that ran on the host, and all of them in a process."""

import threading
from dataclasses import asdict, dataclass

REASON = "torch-npu has no kernel for it"


@dataclass
class Operator:
    op: str
    called_for: str  # the operator that the program called, which calls this one
    line: str | None  # the first that called it
    backward: str  # the node of autograd that called it first, empty in forward
    reason: str = REASON
    runs: int = 0
    bytes: int = 0


def place(row):
    """Where it was called first, for people."""
    where = row["line"] or "a line that is not known"
    return f"{where}, in backward ({row['backward']})" if row["backward"] else where


class Counts:
    """One row for an operator in forward and one in backward. Threads count together; a forked child begins anew."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.lock = threading.Lock()
        self.operators = {}

    def add(self, op, backward, size, describe):
        """`describe` is asked at the first run alone: it walks the stack."""
        with self.lock:
            known = self.operators.get((op, backward))
            if known is None:
                known = self.operators[op, backward] = describe()
            known.runs += 1
            known.bytes += size

    def listed(self):
        """What moved most stands first."""
        with self.lock:
            return sorted(
                map(asdict, self.operators.values()), key=lambda one: (-one["bytes"], one["op"], one["backward"])
            )
