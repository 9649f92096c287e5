# SPDX-License-Identifier: Apache-2.0
"""The file in which guides look up the lists of mixed precision says what the engine's table says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from anynpu.library import door

GENERATOR = Path(__file__).parents[2] / "cmake/operator_info.py"
FLAGS = {"white": {"flag": "true"}, "black": {"flag": "false"}, "gray": None, "clear": None}
SOCS = ("Ascend910B1", "Ascend910B2", "Ascend910B3", "Ascend910B4", "Ascend910A", "Ascend310P3")
FAMILIES = ("ascend910b", "ascend910", "ascend310p")
CONFIG = "built-in/op_impl/ai_core/tbe/config"


def read(opp, soc):
    return json.loads(Path(opp, CONFIG, soc, f"aic-{soc}-ops-info.json").read_text())


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("opp")
    subprocess.run([sys.executable, GENERATOR, folder], check=True)
    return folder


@pytest.mark.parametrize("soc", SOCS + FAMILIES)
def test_the_file_has_the_lists_of_the_table(written, soc):
    found = read(written, soc)
    known = {}
    for row in door.operator_precisions():
        if row.op.startswith("ai.onnx::"):  # the vendor has no single operator for them
            continue
        for name in row.aliases.split():
            known.setdefault(name, {})[row.op] = row
    assert set(found) == set(known)
    for name, said in found.items():
        # Of several operators with one name, those that have a choice decide.
        rows = list(known[name].values())
        rows = [row for row in rows if row.dtypes] or rows
        assert [said.get("precision_reduce")] * len(rows) == [FLAGS[row.list] for row in rows], name
        (dtypes,) = [value["dtype"].split(",") for part, value in said.items() if part.startswith("input")]
        assert dtypes[0] == "float" and ("bfloat16" not in dtypes or "910B" in soc.upper())


def test_the_guides_own_example(written):
    assert read(written, "Ascend910B1")["Conv2D"]["precision_reduce"] == {"flag": "true"}


def test_it_stands_where_the_environment_leads(written):
    told = subprocess.run([sys.executable, "-m", "anynpu", "env"], capture_output=True, text=True, check=True).stdout
    (opp,) = re.findall(r"ASCEND_OPP_PATH=(\S+)", told)
    for soc in SOCS + FAMILIES:
        assert read(opp, soc) == read(written, soc)


def test_a_clash_of_lists_is_no_file(tmp_path):
    copy = tmp_path / "cmake"
    for path in (
        "cmake/operator_info.py",
        "device/process/soc_profile.tsv",
        "graph/ir/ops.tsv",
        "graph/precision/precision.tsv",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text((GENERATOR.parents[1] / path).read_text())
    table = tmp_path / "graph/precision/precision.tsv"
    table.write_text(table.read_text().replace("BatchMatMulV3\tcube\twhite", "BatchMatMulV3\tcube\tblack"))
    done = subprocess.run([sys.executable, copy / "operator_info.py", tmp_path / "opp"], capture_output=True, text=True)
    assert (
        done.returncode == 1 and "two operators that the vendor calls BatchMatMulV2 on different lists" in done.stderr
    )
    assert not (tmp_path / "opp").exists()
