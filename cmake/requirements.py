# SPDX-License-Identifier: Apache-2.0
"""Prints one group of pyproject.toml, one requirement a line: `build` for the build system's own, the name of an extra
(torch, tensorflow) or of a dependency group (test, lint). The pins stand in pyproject.toml and nowhere else."""

import sys
import tomllib
from pathlib import Path

declared = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
groups = {"build": declared["build-system"]["requires"]}
groups |= declared["project"]["optional-dependencies"] | declared["dependency-groups"]
for requirement in groups.get(sys.argv[1], []):
    print(requirement.replace(" ", ""))
