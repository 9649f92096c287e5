# SPDX-License-Identifier: Apache-2.0
"""What is built with and installed keeps to the oldest Python that pyproject.toml lets in, in syntax and library."""

import re
import subprocess
import sys
from pathlib import Path

import source

OLDEST = re.search(r'^requires-python = ">=([\d.]+)"', (source.ROOT / "pyproject.toml").read_text(), re.M)[1]
# Names of Python 2 that vermin takes for those of our own classes.
OURS = ["--exclude", "str.decode", "--exclude", "long"]


def too_new(paths):
    """What vermin says of files that a Python of OLDEST does not run; empty if there are none."""
    command = [Path(sys.executable).with_name("vermin"), "--quiet", "--no-tips", "--violations", f"-t={OLDEST}-", *OURS]
    done = subprocess.run([*command, *paths], capture_output=True, text=True, cwd=source.ROOT)
    return done.stdout if done.returncode else ""


def test_what_is_installed_runs_on_the_oldest_python():
    development = {"tests", "cmake"}
    paths = [p for p in source.with_suffix(".py") if p.parts[0] not in development and not source.is_test(p)]
    assert len(paths) > 100
    assert too_new(paths) == ""


def test_the_check_sees_newer_syntax_and_names(tmp_path):
    for name, line in (("library", "import tomllib"), ("syntax", "try:\n    x = 1\nexcept* ValueError:\n    pass")):
        (tmp_path / f"{name}.py").write_text(line + "\n")
        assert too_new([tmp_path / f"{name}.py"]) != "", name
