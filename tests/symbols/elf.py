# SPDX-License-Identifier: Apache-2.0
"""Dynamic symbols of shared libraries, read with nm and ldd."""

import pathlib
import re
import subprocess


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def names(path, *options):
    lines = run("nm", "-D", "--without-symbol-versions", *options, str(path)).splitlines()
    return {line.split()[-1] for line in lines if line.strip()}


def defined(path):
    return names(path, "--defined-only")


def undefined(path):
    """Symbols another library must define; weak ones may stay without a definition."""
    lines = run("nm", "-D", "--without-symbol-versions", "--undefined-only", str(path)).splitlines()
    return {line.split()[-1] for line in lines if line.split()[-2] == "U"}


def loaded_with(path):
    """Files the loader would map for `path`, as far as it finds them without our libraries."""
    found = re.findall(r"(?:=>|^\s)\s*(/\S+)", run("ldd", str(path)), flags=re.M)
    return {pathlib.Path(name).resolve() for name in found}
