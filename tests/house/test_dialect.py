# SPDX-License-Identifier: Apache-2.0
"""The graph engine speaks its own words: no pass, plan, run or report names an operator as a client spells it."""

import re
from pathlib import Path

import source

PARTS = ("ir", "precision", "value", "passes", "plan", "run", "report")
TABLES = ("import/tensorflow/kinds.tsv", "ir/ops.tsv", "precision/precision.tsv")


def operators():
    """Operators as TensorFlow spells them: those of the tables, and the opaque ones that nodes are registered for."""
    rows = [source.text(Path("graph", table)).splitlines()[1:] for table in TABLES]
    found = {name for row in rows[0] for name in row.split("\t")[1].split(" ")}
    found |= {row.split("\t")[0] for row in rows[1] + rows[2]}
    for path in source.with_suffix(".cpp"):
        if path.is_relative_to("graph/node"):
            found |= set(re.findall(r'^NPU_(?:LIST_)?NODE\("(\w+)"', source.text(path), re.MULTILINE))
    return found


def literals(text):
    """The texts between quotes of a C++ file, without comments."""
    code = re.sub(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*', lambda m: m[1] or "", text)
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', code)


def named(path):
    return sorted(set(literals(source.text(path))) & operators())


def test_only_importers_nodes_and_dumps_name_a_clients_operators():
    files = [p for p in source.with_suffix(".h", ".cpp") if p.parts[0] == "graph" and p.parts[1] in PARTS]
    wrong = [f"{path}: {', '.join(found)}" for path in files if not source.is_test(path) and (found := named(path))]
    assert not wrong, "say it by a kind (graph/ir/kind.h):\n" + "\n".join(wrong)


def test_the_check_sees_a_name():
    assert {"AddV2", "Const", "MatMul", "Xlogy", "Relu"} <= operators()
    assert literals('if (op == "AddV2") f("a \\" b", "MatMul");  // not "Sum"') == ["AddV2", 'a \\" b', "MatMul"]
