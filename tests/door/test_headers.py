# SPDX-License-Identifier: Apache-2.0
"""Headers have the names that the vendor's pages and clients write, and one name each."""

import collections
import csv
import pathlib
import re
import shutil
import subprocess

import pytest
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATED = next(ROOT.glob("build/**/generated/include"), ROOT / "build/generated/include")
with open(ROOT / "acl/headers.tsv", encoding="utf-8") as table:
    HEADERS = {row["header"]: (row["functions"] or "").split() for row in csv.DictReader(table, delimiter="\t")}

LIBRARIES = ROOT / "build/lib"
FOLDERS = [f"-I{ROOT / 'acl/include'}", f"-I{GENERATED}"]
ALL = {path: root for root in (ROOT / "acl/include", GENERATED) for path in sorted(root.rglob("*.h"))}
FOR_CXX = {"ge", "graph", "parser", "opdev"}  # folders of classes
PUBLIC = {path: root for path, root in ALL.items() if path.parent.name not in {*FOR_CXX, "level2"}}
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
@pytest.mark.parametrize("language", STRICT)
def test_headers_that_clients_name_are_there(language, tmp_path):
    """Those that public programs include (asked_headers.txt), alone and by the folder that older toolkits have."""
    names = (pathlib.Path(__file__).parent / "asked_headers.txt").read_text(encoding="utf-8").split()
    asked = [*names, *(name.replace("aclnnop/", "aclnnop/level2/") for name in names if name.startswith("aclnnop/"))]
    for at, name in enumerate(asked):
        if language == "c++" or not FOR_CXX & set(name.split("/")):
            (tmp_path / f"{at}.h").write_text(f"#include <{name}>\n")
    command = [*STRICT[language], "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *FOLDERS]
    said = subprocess.run([*command, *sorted(tmp_path.iterdir())], capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (0, "")


def test_level2_forwards_each_header():
    folder = GENERATED / "aclnnop"
    names = {path.name for path in folder.glob("*.h")}
    assert names == {path.name for path in (folder / "level2").glob("*.h")} and len(names) > 600
    for name in names:
        assert f'#include "aclnnop/{name}"\n' in (folder / "level2" / name).read_text(encoding="utf-8")


NUMBERS = """
#include <aclnn/opdev/bfloat16.h>
#include <aclnn/opdev/fp16_t.h>
#include <cstdio>
#include <cstring>
template <class Half> void print(uint32_t bits) {
  float number = 0;
  std::memcpy(&number, &bits, 4);
  const Half half(number);
  const float back = half;
  std::memcpy(&bits, &half, 2);
  std::printf("%u %a\\n", bits & 0xFFFF, back);
}
int main() {
  for (uint32_t bits; std::scanf("%u", &bits) == 1; print<op::HALF>(bits)) {}
  op::HALF sum = 1;
  sum += op::HALF(0.5F);
  return sum == 1.5F ? 0 : 1;
}
"""


@needs_compiler
@pytest.mark.parametrize("half", ["fp16_t", "bfloat16"])
def test_halves_of_opdev_round_as_torch_does(half, tmp_path):
    program, source = tmp_path / "numbers", tmp_path / "numbers.cpp"
    source.write_text(NUMBERS.replace("HALF", half))
    subprocess.run([*STRICT["c++"][:2], "-O1", *FOLDERS, source, "-o", program], check=True)
    generator = torch.Generator().manual_seed(5)
    edges = [0, 1 << 31, 0x33000000, 0x33000001, 0x387FFFFF, 0x477FEFFF, 0x477FF000, 0x7F7FFFFF, 0x7F800000, 0xFF800000]
    bits = torch.cat([torch.randint(0, 2**32, (20000,), generator=generator), torch.tensor(edges)])
    bits = torch.cat([bits, torch.randint(0x32000000, 0x48000000, (20000,), generator=generator)])
    numbers = bits.to(torch.int32).view(torch.float32)
    bits, numbers = bits[~numbers.isnan()], numbers[~numbers.isnan()]
    wanted = numbers.to(torch.float16 if half == "fp16_t" else torch.bfloat16)
    run = subprocess.run(
        [program], input="\n".join(map(str, bits.tolist())), capture_output=True, text=True, check=True
    )
    got = [line.split() for line in run.stdout.splitlines()]
    assert [int(one[0]) for one in got] == (wanted.view(torch.int16).to(torch.int32) & 0xFFFF).tolist()
    assert [float.fromhex(one[1]) for one in got] == wanted.float().tolist()


@needs_compiler
def test_a_function_that_is_not_built_is_told_by_the_compiler():
    said = compiled("#include <aclnnop/aclnn_ger.h>\nint main(void) { (void)&aclnnGer; return 0; }\n")
    assert "aclnnGer" in said and "undeclared" in said


@needs_compiler
@pytest.mark.parametrize("language", STRICT)
def test_each_header_stands_alone(language):
    """The compiler reads one after the other, each as if it were a program."""
    command = [*STRICT[language], "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", *FOLDERS]
    headers = sorted(PUBLIC if language == "c" else [path for path in ALL if path.parent.name != "level2"])
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
