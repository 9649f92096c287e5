# SPDX-License-Identifier: Apache-2.0
"""What `anynpu doctor` has found."""

from dataclasses import dataclass

GIGA = 1 << 30
MARKS = {"ok": "ok  ", "note": "note", "bad": "BAD "}


@dataclass
class Finding:
    """One result of a check.

    Parameters
    ----------
    grade : "ok", "note" (works, but know this) or "bad" (mend it)
    text : what was found
    cure : what to do
    names : what the finding is about, by name; only `--all` lists them and prints the cure, else they are counted
    """

    grade: str
    text: str
    cure: str = ""
    names: tuple = ()

    def shown(self, all_names=False):
        text = f"{MARKS[self.grade]} {self.text}"
        if self.names and not all_names:
            return f"{text} ({len(self.names)} name{'s' if len(self.names) > 1 else ''})"
        listed = f" ({', '.join(self.names)})" if self.names else ""
        return f"{text}{listed}" + (f"\n     -> {self.cure}" if self.cure else "")
