# SPDX-License-Identifier: Apache-2.0
"""acl/singleop/asked_types.tsv: the operator types that torch-npu's wheels ask aclopCompileAndExecute for, read from
the machine code of 2.5.1 to 2.14.0, and why the ones that have no row in operator_types.tsv have none.

soc: `910A` is asked there and elsewhere only with jit_compile or internal formats, as an aclnn function does the same;
`both` has no aclnn function in the wheel."""

import csv

import source


def table(name):
    path = next(p for p in source.with_suffix(".tsv") if p.name == name)
    return list(csv.DictReader(source.text(path).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def test_every_asked_type_is_built_or_says_why_not():
    built = {row["type"] for row in table("operator_types.tsv")}
    asked = table("asked_types.tsv")
    names = [row["type"] for row in asked]
    assert names == sorted(set(names))
    missing = {row["type"]: row["reason"] for row in asked if row["type"] not in built}
    silent = [name for name, reason in missing.items() if not reason]
    assert not silent, f"give them a row in operator_types.tsv, or a reason in asked_types.tsv: {silent}"
    stale = [row["type"] for row in asked if row["reason"] and row["type"] in built]
    assert not stale, f"built, and still with a reason why not: {stale}"
    assert {row["soc"] for row in asked} == {"910A", "both"}
    print(f"{len(asked) - len(missing)} of {len(asked)} types that torch-npu asks for are built")
    for row in asked:
        if row["type"] in missing:
            print(f"missing: {row['type']} ({row['soc']}, {row['first']} to {row['last']}): {row['reason']}")
