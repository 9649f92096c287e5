# SPDX-License-Identifier: Apache-2.0
"""Headers have the names that the vendor's pages and clients write, and one name each."""

import collections
import csv
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATED = next(ROOT.glob("build/**/generated/include"), ROOT / "build/generated/include")
with open(ROOT / "acl/headers.tsv", encoding="utf-8") as table:
    HEADERS = {row["header"]: (row["functions"] or "").split() for row in csv.DictReader(table, delimiter="\t")}

needs_compiler = pytest.mark.skipif(not shutil.which("gcc"), reason="needs a C compiler")


def compiled(source):
    """What gcc says to a C program of these lines."""
    command = ["gcc", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-xc", "-"]
    folders = [f"-I{ROOT / 'acl/include'}", f"-I{GENERATED}"]
    return subprocess.run(command + folders, input=source, capture_output=True, text=True).stderr


@needs_compiler
@pytest.mark.parametrize("header", HEADERS)
def test_a_header_alone_declares_its_functions(header):
    calls = "".join(f"(void)&{name}GetWorkspaceSize; (void)&{name};" for name in HEADERS[header])
    assert compiled(f"#include <aclnnop/{header}.h>\nint main(void) {{ {calls} return 0; }}\n") == ""


@needs_compiler
def test_a_function_that_is_not_built_is_told_by_the_compiler():
    said = compiled("#include <aclnnop/aclnn_sum.h>\nint main(void) { (void)&aclnnSum; return 0; }\n")
    assert "aclnnSum" in said and "undeclared" in said


@needs_compiler
def test_all_headers_together_are_a_program():
    names = sorted(path.name for path in (GENERATED / "aclnnop").glob("*.h"))
    assert len(names) > 500
    assert compiled("".join(f"#include <aclnnop/{name}>\n" for name in names) + "int main(void) { return 0; }\n") == ""


def test_each_function_is_declared_in_one_header():
    owners = collections.defaultdict(set)
    for path in (GENERATED / "aclnnop").glob("*.h"):
        for name in re.findall(r"^aclnnStatus (\w+)\(", path.read_text(encoding="utf-8"), flags=re.M):
            owners[name].add(path.name)
    assert len(owners) > 1000
    assert {name: found for name, found in owners.items() if len(found) > 1} == {}
