# SPDX-License-Identifier: Apache-2.0
"""What `anynpu doctor` has found."""

from dataclasses import dataclass

GIGA = 1 << 30
MARKS = {"ok": "ok  ", "note": "note", "bad": "BAD "}


@dataclass
class Finding:
    grade: str  # ok; note: works, but know this; bad: mend it
    text: str
    cure: str = ""

    def __str__(self):
        return f"{MARKS[self.grade]} {self.text}" + (f"\n     -> {self.cure}" if self.cure else "")
