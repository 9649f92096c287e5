# SPDX-License-Identifier: Apache-2.0
import re

import pytest

from anynpu.command_test import anynpu
from anynpu.library import door, place


def test_every_operator_stands_with_the_functions_that_reach_it():
    code, out, _ = anynpu("ops")
    assert code == 0
    assert re.search(r"^\w+ +add +.*\baclnnAdd\b", out, re.MULTILINE)
    assert out.endswith(f"{len(door.operators())} operators, {len(door.functions())} aclnn functions in all\n")


def test_one_family():
    out = anynpu("ops", "--family", "reduce")[1]
    assert all(line.startswith(("family", "reduce")) for line in out.splitlines()[:-1])


def test_an_unknown_family_names_the_known_ones():
    code, _, err = anynpu("ops", "--family", "nothing")
    assert code == 1 and "there is no family nothing; there are " in err and "reduce" in err


@pytest.mark.skipif(place.package_folder("torch_npu") is None, reason="needs torch-npu")
def test_missing_lists_what_torch_npu_may_ask_for():
    out = anynpu("ops", "--missing")[1].splitlines()
    missing, asked = map(int, re.findall(r"\d+", out[-1]))
    assert missing == len(out) - 1 and asked > 800
    assert not {f.name for f in door.functions()} & set(out)


@pytest.mark.skipif(place.package_folder("torch_npu") is None, reason="needs torch-npu")
@pytest.mark.parametrize(
    "name, operator, fate",
    [
        ("aten::add.Tensor", "aten::add.Tensor", "kernel of torch-npu; functions of that name are here: aclnnAdd, "),
        ("aten.geqrf", "aten::geqrf.a", "falls back to the CPU: torch-npu has no kernel for it"),
        ("linalg_eigh", "aten::linalg_eigh", "composite: PyTorch decomposes it"),
        ("special_airy_ai", "aten::special_airy_ai", "PyTorch makes it of aten::special_airy_ai.out, which is: falls"),
    ],
)
def test_why(name, operator, fate):
    code, out, err = anynpu("ops", "--why", name)
    assert code == 0, err
    assert re.search(rf"^{re.escape(operator)} +{re.escape(fate)}", out, re.MULTILINE), out


@pytest.mark.skipif(place.package_folder("torch_npu") is None, reason="needs torch-npu")
def test_why_names_what_is_near_to_an_unknown_operator():
    code, _, err = anynpu("ops", "--why", "aten::linalg_eih")
    assert code == 1 and "PyTorch has no operator aten::linalg_eih; near to it are aten::linalg_eigh" in err


def test_why_without_a_name_tells_the_kernels_of_this_cpu():
    code, out, _ = anynpu("ops", "--why")
    assert code == 0
    rows = door.choices()
    if not rows:
        assert out.startswith("oneDNN computes all products and convolutions on this CPU")
        return
    lines = out.splitlines()
    assert lines[0].endswith(f"as measured on {rows[0].cpu}") and len(lines) == len(rows) + 2
    for line, row in zip(lines[2:], rows, strict=True):
        assert line.startswith(f"{row.work}, {row.dtype}, {row.variant}, {row.shapes}")
        assert line.split()[-len(row.ways) :] == [{"o": "own", "l": "oneDNN"}[way] for way in row.ways]
