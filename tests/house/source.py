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


def includes(path):
    return re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', text(path), re.MULTILINE)


def operators(path):
    """Names of the operators that a C++ file declares."""
    text_of = text(path)
    return re.findall(r'^NPU_OPERATOR\(\s*\w+,\s*"(\w+)"', text_of, re.MULTILINE) + re.findall(
        r'^ *NPU_POINT\d(?:_RARE)?\(\s*"(\w+)"', text_of, re.MULTILINE
    )


@cache
def map_lines():
    """{folder: (`room` or `inside`, {"PARTS": folders, "USES": rooms})}, in the order of the map."""
    found = {}
    for kind, name, words in re.findall(
        r"^(room|inside)\(([\w/]+)([^)]*)\)", text(Path("CMakeLists.txt")), re.MULTILINE
    ):
        found[name] = kind, {"PARTS": [], "USES": []}
        for word in words.split():
            if word in found[name][1]:
                into = found[name][1][word]
            else:
                into.append(word)
    return found


def rooms():
    """{room: rooms it may see}, in the order of the map."""
    return {name: set(words["USES"]) for name, (kind, words) in map_lines().items() if kind == "room"}


def shown_to(path):
    """Rooms, and parts of them, that the line of an adapter or a tool lets its files see beside the door."""
    lines = ((name, words["USES"]) for name, (kind, words) in map_lines().items() if kind == "inside")
    return [part for name, used in lines if path.is_relative_to(name) for part in used]


def parts():
    """{place: its folders, each of which sees only those before it}, where the map orders them."""
    return {name: words["PARTS"] for name, (_, words) in map_lines().items() if words["PARTS"]}
