# SPDX-License-Identifier: Apache-2.0
"""A program or library linked anew from changed sources: only what reads a changed file is compiled, with the commands
of the finished build folder; everything else is taken from there as it is."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from fault import ROOT

FOLDER = ROOT / "build"


class BuildError(Exception):
    """With what the compiler or the linker said."""


def ninja(*arguments):
    done = subprocess.run(["ninja", *arguments], cwd=FOLDER, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"ninja {' '.join(arguments)}: {done.stdout}{done.stderr}")
    return done.stdout


@cache
def readers():
    """{source: objects that read it}, as the compiler said when it made them."""
    found, current = {}, None
    for line in ninja("-t", "deps").splitlines():
        if line.startswith(" "):
            found.setdefault((FOLDER / line.strip()).resolve(), []).append(current)
        else:
            current = line.partition(":")[0]
    return found


@cache
def inputs(target):
    return set(ninja("-t", "inputs", target).split())


@cache
def command(output):
    """The shell command that makes `output`, run in the build folder."""
    return ninja("-t", "commands", "-s", output).strip()


def copy_tree(to):
    """The files that git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "-z", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if not (ROOT / name).is_file():
            continue
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name)


def run(text):
    done = subprocess.run(text, shell=True, cwd=FOLDER, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"{done.stdout}{done.stderr}")


def from_copy(text, tree):
    """The command with the sources of `tree`; what the build has made, and the environment, stay where they are."""
    return re.sub(rf"{re.escape(str(ROOT))}(?=[/=\s]|$)(?!/(?:build|\.venv)\b)", str(tree), text)


def with_unit(text, tree):
    """The command that compiles a unit of several sources (cmake/unity.cmake), with a unit of the sources of `tree`."""
    unit = Path(re.search(r" -c (\S+)", text)[1])
    if unit.parent.name not in ("Unity", "unity"):  # CMake's, and those of kernels
        return text
    place = tree / "build" / unit.relative_to(FOLDER)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(from_copy(unit.read_text(), tree).replace(str(unit), str(place)))  # kernels include themselves
    return text.replace(f" -c {unit}", f" -c {place}")


def elsewhere(text, output, place):
    """The command with `output` at `place`."""
    return re.sub(rf"(?<=[ ]){re.escape(output)}(?=\s|\.d\b|$)", str(place), text)


def link(target, file, tree):
    """Makes `target` below tree/build with `file`, which was changed in `tree`."""
    changed = sorted(set(readers().get(ROOT / file, [])) & inputs(target))
    if not changed:
        raise BuildError(f"nothing in {target} is made of {file}")
    final = command(target)
    for made in changed:
        place = tree / "build" / made
        place.parent.mkdir(parents=True, exist_ok=True)
        run(elsewhere(with_unit(from_copy(command(made), tree), tree), made, place))
        final = elsewhere(final, made, place)
    place = tree / "build" / target
    place.parent.mkdir(parents=True, exist_ok=True)
    if target.startswith("lib/"):  # it looks for the libraries it needs beside itself
        for other in (FOLDER / "lib").iterdir():
            if other.name != place.name:
                (place.parent / other.name).symlink_to(other)
    run(elsewhere(final, target, place))
