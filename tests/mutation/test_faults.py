# SPDX-License-Identifier: Apache-2.0
"""Every planted fault still fits the sources; that its test catches it is shown by `make mutation`."""

import re
from collections import Counter

import overlay
import pytest
from fault import LEAST, ROOT, Catcher, Fault, StaleError, faults, outcome

FAULTS = faults()
ROOMS = re.findall(r"^room\((\w+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)


def example(**changes):
    values = {"name": "x", "area": "kernel", "what": "y", "file": "ops/x.cpp", "text": "a + b", "becomes": "a - b"}
    return Fault(**values | {"caught_by": "ops_test X.Y"} | changes)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_applies(fault):
    source = (ROOT / fault.file).read_text(encoding="utf-8")
    assert fault.planted(source) != source


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_in_the_product_and_its_test_is_there(fault):
    assert (fault.file.split("/")[0] in ROOMS or re.match(r"tools/\w+/.*\.cpp$", fault.file)) and not re.search(
        r"_(test|bench)\.cpp$|_fixture\.h$", fault.file
    )
    if fault.test.program is None:
        file, _, function = fault.test.name.partition("::")
        pattern, files = rf"^def {re.escape(function.partition('[')[0])}\(", [ROOT / file]
    else:
        suite, test = re.fullmatch(r"(?:\w+/)?(\w+)\.(\w+)(?:/\w+)?", fault.test.name).groups()
        room = fault.test.program.removesuffix("_test")
        kind = "TEST_P" if "/" in fault.test.name else "TEST(?:_F)?"  # of one with parameters, each has a name
        folder = ROOT / room if room in ROOMS else ROOT / "tools" / room
        pattern, files = rf"^{kind}\({suite}, {test}\)", folder.rglob("*_test.cpp")
    assert any(re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE) for file in files)


def test_there_are_enough_of_each_area():
    counts = Counter(fault.area for fault in FAULTS)
    assert set(counts) == set(LEAST)
    assert all(counts[area] >= least for area, least in LEAST.items()), counts
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("source", ["b + a", "a + b; a + b"])
def test_a_fault_whose_text_is_not_found_once_is_stale(source):
    with pytest.raises(StaleError, match=r"x: its text stands [02] times in ops/x\.cpp"):
        example().planted(source)


def test_planting_changes_one_file_of_the_copy(tmp_path):
    (tmp_path / "ops").mkdir()
    path = tmp_path / "ops/x.cpp"
    path.write_text("return a + b;")
    path.with_name("same.cpp").hardlink_to(path)
    example().plant(tmp_path)
    assert path.read_text() == "return a - b;"
    assert path.with_name("same.cpp").read_text() == "return a + b;"
    with pytest.raises(StaleError, match=r"there is no ops/y\.cpp"):
        example(file="ops/y.cpp").plant(tmp_path)


GTEST, PYTEST = Catcher("S/X.Y/1", "ops_test"), Catcher("t.py::f[a-b]", None)


@pytest.mark.parametrize(
    "test, status, output, expected",
    [
        (GTEST, 1, "[ RUN      ] S/X.Y/1\n[  FAILED  ] S/X.Y/1, where GetParam() = 2 (3 ms)\n", True),
        (GTEST, 0, "[ RUN      ] S/X.Y/1\n[       OK ] S/X.Y/1 (3 ms)\n", False),
        (PYTEST, 1, "FAILED t.py::f[a-b] - AssertionError: 1\n1 failed in 2.00s\n", True),
        (PYTEST, 0, "PASSED t.py::f[a-b]\n1 passed in 2.00s\n", False),
        (GTEST, 1, "[  FAILED  ] S/X.Y/10 (3 ms)\n", None),  # another one
        (GTEST, 0, "[==========] 0 tests from 0 test suites ran.\n", None),
        (GTEST, -11, "[ RUN      ] S/X.Y/1\n", None),
        (GTEST, None, "stopped after 300 s", None),
        (GTEST, 127, "error while loading shared libraries\n", None),
        (PYTEST, 2, "ERROR t.py - OSError: undefined symbol\n", None),
        (PYTEST, 1, "ERROR t.py::f[a-b] - CallError: in the fixture\n", None),
        (PYTEST, 4, "ERROR: not found: t.py::f[a-b]\n", None),
    ],
)
def test_only_a_failure_of_the_test_is_a_catch(test, status, output, expected):
    found = outcome(test, status, output)
    assert found is expected if expected is not None else str(test) in found


def test_commands_take_sources_from_the_copy_and_all_else_from_the_build():
    root, made = str(ROOT), "CMakeFiles/r.dir/ops/x.cpp.o"
    compile_command = f"c++ -I{root} -I{root}/build/made -I{root}/.venv/i -MF {made}.d -o {made} -c {root}/ops/x.cpp"
    assert overlay.elsewhere(overlay.from_copy(compile_command, "/copy"), made, f"/copy/build/{made}") == (
        f"c++ -I/copy -I{root}/build/made -I{root}/.venv/i -MF /copy/build/{made}.d -o /copy/build/{made} "
        "-c /copy/ops/x.cpp"
    )
    link_command = f"c++ a{made} {made} -o ops_test -Wl,-rpath,{root}/build/lib"
    assert overlay.elsewhere(link_command, "ops_test", "/copy/ops_test").count("/copy") == 1
    assert overlay.elsewhere(link_command, made, "/m.o") == link_command.replace(f" {made}", " /m.o")
