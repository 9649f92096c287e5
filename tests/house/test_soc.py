# SPDX-License-Identifier: Apache-2.0
"""What a SoC is and lacks stands in one table: no source of a room asks for a SoC by its name."""

import re
from pathlib import Path

import source
from test_dialect import literals

TABLE = Path("device/process/soc_profile.tsv")
DEFAULT = Path("device/process/soc.cpp")


def socs(text):
    """Names of SoCs and their families among the texts of a C++ file."""
    families = {row.split("\t")[1] for row in source.text(TABLE).splitlines()[1:]}
    return sorted(each for each in set(literals(text)) if re.match(r"Ascend\d", each) or each in families)


def test_no_source_asks_for_a_soc_by_its_name():
    files = [p for p in source.with_suffix(".h", ".cpp") if p.parts[0] in source.rooms() and not source.is_test(p)]
    files = [p for p in files if p.parts[:2] != ("acl", "include")]  # declarations, whose comments name some
    wrong = [f"{path}: {', '.join(found)}" for path in files if path != DEFAULT and (found := socs(source.text(path)))]
    assert not wrong, f"ask the profile (device/process/soc.h), which is a line of {TABLE}:\n" + "\n".join(wrong)


def test_the_check_sees_a_name():
    assert socs('return name == "Ascend910A" ? "a" : "needs an Ascend910B";  // "Ascend910B1"') == ["Ascend910A"]
    assert socs(source.text(DEFAULT)) == ["Ascend910B1"]
