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

LIBRARIES = ROOT / "build/lib"
FOLDERS = [f"-I{ROOT / 'acl/include'}", f"-I{GENERATED}"]
ALL = {path: root for root in (ROOT / "acl/include", GENERATED) for path in sorted(root.rglob("*.h"))}
PUBLIC = {path: root for path, root in ALL.items() if path.parent.name != "ge"}  # ge: classes, for programs in C++
STRICT = {"c": ["gcc", "-std=c11", "-xc"], "c++": ["g++", "-std=c++11", "-xc++"]}
CLIENTS_LINK = ["-lascendcl", "-lnnopbase", "-lopapi", "-lacl_op_compiler", "-lhccl", "-lhcomm"]
INLINE = {"HcclCommConfigInit"}  # a function of the header itself

needs_compiler = pytest.mark.skipif(not shutil.which("gcc"), reason="needs a C compiler")


def compiled(source):
    """What gcc says to a C program of these lines."""
    command = ["gcc", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", *FOLDERS, "-xc", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True).stderr


@pytest.fixture(scope="module")
def declared():
    """Function -> the headers that declare it."""
    owners = collections.defaultdict(set)
    for path in PUBLIC:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.S)
        for name in re.findall(r"^(?!typedef)[A-Za-z][\w \*]*?\b(\w+)\s*\(", text, flags=re.M):
            owners[name].add(path.name)
    return owners


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
@pytest.mark.parametrize("language", STRICT)
def test_each_header_stands_alone(language):
    """The compiler reads one after the other, each as if it were a program."""
    command = [*STRICT[language], "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", *FOLDERS]
    headers = sorted(PUBLIC if language == "c" else ALL)
    said = subprocess.run([*command, *headers], capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (0, "")


@needs_compiler
def test_all_headers_together_are_a_program_that_links(tmp_path, declared):
    """It takes the address of every function that a header declares, from the libraries a client names."""
    names = sorted(set(declared) - INLINE)
    includes = "".join(f"#include <{path.relative_to(root)}>\n" for path, root in PUBLIC.items())
    table = f"void (*functions[])(void) = {{ {', '.join(f'(void (*)(void))&{name}' for name in names)} }};"
    program = tmp_path / "every_function.c"
    program.write_text(f"{includes}{table}\nint main(void) {{ return functions[0] == 0; }}\n")
    command = ["gcc", "-std=c11", "-Wall", "-Werror", *FOLDERS, program, "-o", tmp_path / "every_function"]
    libraries = [f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", *CLIENTS_LINK, "-lanynpu"]
    assert subprocess.run([*command, *libraries], capture_output=True, text=True).stderr == ""
    assert subprocess.run([tmp_path / "every_function"]).returncode == 0


def test_each_exported_function_is_declared_in_one_header(declared):
    assert len(declared) > 1500
    assert {name: found for name, found in declared.items() if len(found) > 1} == {}
    with open(ROOT / "acl/unsupported.tsv", encoding="utf-8") as table:
        refusing = {row["name"] for row in csv.DictReader(table, delimiter="\t")}
    listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARIES / "libanynpu.so"], capture_output=True, text=True)
    exported = set(re.findall(r" [TW] (?!_Z)(\w+)", listed.stdout))  # what C can call
    assert exported - set(declared) - refusing == set(), "exported, but in no header"
    assert set(declared) - exported - INLINE == set(), "in a header, but not exported"
