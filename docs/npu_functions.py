# SPDX-License-Identifier: Apache-2.0
"""The page of torch-npu's own functions, from what each asks for and what is there."""

import csv
from collections import Counter
from pathlib import Path

from anynpu.library import door
from anynpu.output import table

ROOT = Path(__file__).resolve().parents[1]
STATES = {
    "works": "all it asks for is there, and `tests/conformance` compares each with a formula",
    "called": "`tests/npu_functions` calls it, and compares with a formula",
    "works in part": "one of several functions it chooses from is missing",
    "refused": "nothing it asks for is built: `tests/npu_functions` calls it and is told the name of what is missing, "
    "or that torch-npu does not have it on this SoC",
    "not built": "nothing it asks for is built; no call that comes so far was written",
    "not tried": "what single operators it needs is not known, or it is torch-npu's own affair",
}


def rows(path):
    with open(ROOT / path, encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE, restval=""))


def built():
    types = {row["type"] for row in rows("acl/singleop/operator_types.tsv")}
    return types | {function.name for function in door.functions()}


def state(row, there):
    asks = row["asks"].split()
    missing = [name for name in asks if name not in there]
    if row["call"] == "compared":
        return "called", missing
    if asks and not missing:
        return ("works" if all(name.startswith("aclnn") for name in asks) else "not tried"), missing
    if len(missing) < len(asks):
        return "works in part", missing
    return ("refused" if row["says"] else "not built" if asks else "not tried"), missing


def states():
    """(row, state, what is missing) of each function."""
    there = built()
    return [(row, *state(row, there)) for row in rows("tests/npu_functions/functions.tsv")]


def why(row, missing, reasons):
    known = [f"{name}: {reasons[name]}" for name in missing if reasons.get(name)]
    return "; ".join(known) or ("" if row["says"] in [*missing, ""] else f"torch-npu: {row['says']}")


def cells(names):
    return " ".join(f"`{name}`" for name in names)


def page():
    reasons = {row["type"]: row["reason"] for row in rows("acl/singleop/asked_types.tsv")}
    found = states()
    count = Counter(state for _, state, _ in found)
    meaning = [[state, str(count[state]), text] for state, text in STATES.items()]
    sections = []
    for wanted in STATES:
        lines = [
            [f"`{row['function']}`", cells(sorted(set(row["asks"].split()) - set(missing))), cells(missing),
             why(row, missing, reasons)]
            for row, state, missing in found if state == wanted
        ]  # fmt: skip
        if lines:
            head = ["function", "asks for", "missing", "why"]
            sections.append(f"## {wanted.capitalize()}\n\n{table.markdown(head, lines)}\n")
    return f"""<!-- Made by docs/generate.py; `make docs` makes it again. -->

# Functions of torch-npu's own

The {len(found)} functions of `torch_npu` and `torch.ops.npu` in torch-npu 2.13.0, and what becomes of each on a 910B.
What a function asks for are aclnn functions and types of single operators, as the sources of op-plugin (BSD) name
them, and what calls were seen to ask for; which of several it takes depends on its arguments.

{table.markdown(["state", "functions", "meaning"], meaning)}

{"".join(section + chr(10) for section in sections).rstrip()}
"""
