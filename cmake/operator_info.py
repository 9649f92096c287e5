# SPDX-License-Identifier: Apache-2.0
"""Writes the table of precision as the files in which guides look it up, one for each SoC and for each of its families:
<opp>/built-in/op_impl/ai_core/tbe/config/<soc>/aic-<soc>-ops-info.json.

    python cmake/operator_info.py OPP

An operator has "precision_reduce" with the flag "true" where mixed precision reduces it, "false" where it never does,
and none where what feeds it decides. The dtypes are those of its first input that has a choice."""

import csv
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FLAGS = {"white": "true", "black": "false"}  # gray and clear have none


def rows(path):
    with (ROOT / path).open() as file:
        return list(csv.DictReader(file, delimiter="\t"))


ONNX = "ai.onnx::"  # nodes of ONNX models that the vendor has no single operator for


def first_input(row):
    fixed = [] if row["fixed_inputs"] == "-" else [int(number) for number in row["fixed_inputs"].split()]
    return next(number for number in range(len(fixed) + 1) if number not in fixed)


def described(row, lacks):
    """An operator as the file has it, on a SoC that lacks these dtypes."""
    reduced = [] if row["dtypes"] == "-" else row["dtypes"].split()
    dtypes = ["float", *(dtype for dtype in reduced if dtype not in lacks)]
    out = {f"input{first_input(row)}": {"dtype": ",".join(dtypes)}}
    if flag := FLAGS.get(row["list"]):
        out["precision_reduce"] = {"flag": flag}
    return out


def operators(lacks):
    """{the vendor's name: what the file says of it}."""
    spellings = {row["tensorflow"]: row["ir"].split() for row in rows("graph/ir/ops.tsv")}
    out = {}
    # Where the vendor calls several by one name, those without a choice (FusedBatchNorm, first edition) yield.
    for row in sorted(rows("graph/precision/precision.tsv"), key=lambda row: row["dtypes"] == "-"):
        if row["operator"].startswith(ONNX):
            continue
        said = described(row, lacks)
        for name in spellings.get(row["operator"], [row["operator"]]):
            known = out.setdefault(name, said)
            if row["dtypes"] != "-" and known.get("precision_reduce") != said.get("precision_reduce"):
                sys.exit(f"precision.tsv puts two operators that the vendor calls {name} on different lists")
    return dict(sorted(out.items()))


def write(opp):
    for soc in rows("device/process/soc_profile.tsv"):
        text = json.dumps(operators(soc["lacks"].split()), indent=4) + "\n"
        for name in (soc["name"], soc["family"]):
            folder = opp / "built-in/op_impl/ai_core/tbe/config" / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"aic-{name}-ops-info.json").write_text(text)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
