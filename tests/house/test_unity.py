# SPDX-License-Identifier: Apache-2.0
"""Sources that would change each other's meaning are not compiled as one unit; others are."""

import subprocess
import sys

import pytest
import source

PLAN = source.ROOT / "cmake/unity_groups.py"


@pytest.fixture
def units(tmp_path):
    """The units, as sets of names, of sources given by their text; headers are written beside them."""

    def units(**texts):
        folder = tmp_path / "room"
        folder.mkdir(exist_ok=True)
        for name, text in texts.items():
            path = folder / name.replace("_h", ".h") if name.endswith("_h") else folder / f"{name}.cpp"
            path.write_text(text)
        sources = "\n".join(f"room/{name}.cpp" for name in texts if not name.endswith("_h"))
        command = [sys.executable, PLAN, "--root", tmp_path, "--below", "room", "--apart", "room/apart"]
        made = subprocess.run(command, input=sources, capture_output=True, text=True, check=True).stdout
        return [
            {name.removeprefix("room/").removesuffix(".cpp") for name in line.split()[1:]} for line in made.splitlines()
        ]

    return units


def local(text):
    return f"namespace npu {{\nnamespace {{\n\n{text}\n\n}}  // namespace\n}}  // namespace npu\n"


def test_sources_with_names_of_their_own_are_one_unit(units):
    assert units(a=local("int one() { return 1; }"), b=local("int two() { return 2; }")) == [{"a", "b"}]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("int same() { return 1; }", "int same() { return 2; }"),
        ("int same(int x) { return x; }", "int same(double x) { return 2; }"),
        ("struct Same {};", "class Same {};"),
        ("constexpr int kFirst = 0, kSame = 1;", "constexpr int kSame = 2;"),
        ('const Entry kFirst("a", f),\n    kSame("b", g);', 'const Entry kSame("c", f);'),
        ("enum Kind { kFloat = 1, kSame };", "enum Other { kSame = 3 };"),
        ("template <class T>\nT same(T x) {\n  return x;\n}", "int same(int x) { return x + 1; }"),
        ("using Same = int;", "using Same = long;"),
        ("#define SAME 1", "#define SAME 2"),
        ("namespace same = std::chrono;", "namespace same = std::numbers;"),
    ],
)
def test_the_same_name_twice_keeps_sources_apart(units, one, other):
    assert units(a=local(one), b=local(other)) == []
    assert units(a=local(one), b=local(other), c=local("int free_of_both() { return 0; }")) == [{"a", "c"}]


def test_a_name_that_the_others_header_declares_keeps_sources_apart(units):
    header = "#pragma once\nnamespace npu {\nint wide(double x);\n}  // namespace npu\n"
    user = '#include "room/wide.h"\nnamespace npu {\nint f() { return wide(1); }\n}  // namespace npu\n'
    assert units(wide_h=header, a=local("int wide(int x) { return x; }"), b=user) == []


def test_a_call_of_the_c_library_is_not_caught_by_another_source(units):
    header = "#pragma once\nnamespace npu {\nint open(int mode);\n}  // namespace npu\n"
    caller = "namespace npu {\nint f(const char* path) { return open(path, 0); }\n}  // namespace npu\n"
    definer = '#include "room/cache.h"\nnamespace npu {\nint open(int mode) { return mode; }\n}  // namespace npu\n'
    assert units(cache_h=header, a=caller, b=definer) == []
    assert units(cache_h=header, a=caller, b='#include "room/cache.h"\n' + local("int g() { return 1; }")) == []


def test_aliases_that_are_the_same_everywhere_join(units):
    alias = "namespace fs = std::filesystem;\n"
    assert units(a=local(alias + "int one() { return 1; }"), b=local(alias + "int two() { return 2; }")) == [{"a", "b"}]


def test_kernels_have_units_of_their_own(units):
    head = "#include <hwy/foreach_target.h>\n"
    kernels = {name: head + local(f"int {name}() {{ return 1; }}") for name in ("a", "b")}
    assert units(**kernels, c=local("int three() { return 3; }")) == [{"a", "b"}]
