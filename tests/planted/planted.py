# SPDX-License-Identifier: Apache-2.0
"""The faults of planted.toml, and what each of the commands named of one."""

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(HERE.parent / "mutation"))
from fault import Fault  # noqa: E402 - of the folder beside this one

LIST = HERE / "planted.toml"
# What is said of something wrong, by each command; what stands there names it.
TOLD = {
    "run --self-check": r"^anynpu run --self-check: (.* deviates: .*)$",
    "run --nan-check": r"^anynpu run --nan-check: (.* made \d.*)$",
    "run --repeat 3": r"^anynpu run --repeat: (?!run|\d+ runs)(.*)$",
    "compare": r"^first: (.*)$",
    "dump digest": r"^(rank\d+\.digest: (?!equal).*)$",
}
# How each says that there is nothing.
NOTHING = {
    "run --self-check": r"checked \(\d.*\), 0 kinds of operators deviated$",
    "run --nan-check": r"no operator made an infinity or NaN of finite inputs$",
    "run --repeat 3": r"3 runs had equal bits in all [1-9]\d* operators$",
    "compare": r"^no difference",
    "dump digest": r"^rank1\.digest: equal bits in all [1-9]\d* operators$",
}


@dataclass(frozen=True)
class Planted:
    name: str
    kind: str  # in the words of docs/precision.md
    command: str  # of TOLD
    script: str  # below tests/
    arguments: str  # with the fault, where the script has it
    clean: str  # the arguments without it
    names: str  # how the first line told begins: a regular expression
    tells: str = ""  # what stands somewhere in the output, too
    moved: bool = False  # the same fault at another operator
    ranks: int = 1
    file: str = ""  # of the product, where the fault is in it
    text: str = ""
    becomes: str = ""

    @property
    def change(self):
        """What is changed in the product; None where the script has the fault."""
        if not self.file:
            return None
        return Fault(self.name, "planted", self.kind, self.file, self.text, self.becomes, "")

    def found(self, output):
        """Whether the first that is named is the culprit."""
        lines = told(self.command, output)
        return bool(lines) and re.match(self.names, lines[0]) is not None and re.search(self.tells, output) is not None


def told(command, output):
    """All that was named, in the order in which it was told."""
    return re.findall(TOLD[command], output, re.MULTILINE)


def nothing_told(command, output):
    return not told(command, output) and re.search(NOTHING[command], output, re.MULTILINE) is not None


def planted():
    return [Planted(**entry) for entry in tomllib.loads(LIST.read_text(encoding="utf-8"))["fault"]]
