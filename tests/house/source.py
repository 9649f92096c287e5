# SPDX-License-Identifier: Apache-2.0
"""The files of the checkout and the map of the rooms, read from the root CMakeLists.txt."""

import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def files():
    """Every file that git tracks or would track, as a path below the root."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [Path(name) for name in sorted(set(listed)) if (ROOT / name).is_file()]


def with_suffix(*suffixes):
    return [path for path in files() if path.suffix in suffixes]


def is_test(path):
    """Whether a C++ file serves tests or benches only: their sources, and the headers that they share."""
    return re.search(r"_(test|bench)\.cpp$|_fixture\.h$", path.name) is not None


@cache
def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def rooms():
    """{room: rooms it may see}, in the order of the map."""
    lines = re.findall(r"^room\((\w+)((?: +\w+)*)\)", text(Path("CMakeLists.txt")), re.MULTILINE)
    return {name: set(words.split()[1:]) for name, words in lines}
