# SPDX-License-Identifier: Apache-2.0
"""Each room sees only the rooms that its line in the root CMakeLists.txt names."""

import ast

import pytest
import source
from source import includes

# Folders of acl/include: what the door shows to everybody outside, and to nobody below.
DOOR = {"acl", "aclnn", "aclnnop", "anynpu", "hccl"}
OUTSIDE = ("adapters", "tools", "examples")  # may see the door's public headers only


def room_of(include):
    first = include.split("/")[0] if "/" in include else None
    return "acl" if first in DOOR else first


def is_public(include):
    """A header of the door: written by hand, or made for the functions of the tables."""
    return (source.ROOT / "acl/include" / include).exists() or include.startswith("aclnnop/")


def climbs(path):
    """Includes of `path` that its room may not make."""
    room = path.parts[0]
    if room in OUTSIDE:
        shown = tuple(f"{part}/" for part in source.shown_to(path))
        seen = [i for i in includes(path) if room_of(i) in source.rooms() and not is_public(i)]
        return [i for i in seen if not i.startswith(shown)]
    allowed = source.rooms()[room] | {room}
    return [i for i in includes(path) if room_of(i) in source.rooms() and room_of(i) not in allowed]


def test_the_map_is_a_staircase():
    seen = set()
    for room, uses in source.rooms().items():
        assert uses <= seen, f"room({room}) names {uses - seen}, which stands below it in CMakeLists.txt"
        seen.add(room)
    assert {"base", "device", "ops", "acl"} <= seen


def test_no_include_climbs():
    paths = [p for p in source.with_suffix(".h", ".cpp", ".c") if p.parts[0] in {*source.rooms(), *OUTSIDE}]
    wrong = [f"{path} includes {include}" for path in paths for include in climbs(path)]
    assert not wrong, "a room sees only the rooms that its line in CMakeLists.txt names:\n" + "\n".join(wrong)


def test_the_check_sees_a_climb(monkeypatch, tmp_path):
    """The rule itself: a file of base that includes a header of the door is found."""
    path = source.Path("base/climbing.cpp")
    monkeypatch.setattr(
        source, "text", lambda p: '#include "acl/acl_base.h"\n' if p == path else "room(base)\nroom(acl USES base)"
    )
    source.map_lines.cache_clear()
    try:
        assert climbs(path) == ["acl/acl_base.h"]
    finally:
        source.map_lines.cache_clear()


def test_a_source_includes_its_own_header_first():
    wrong = []
    for path in source.with_suffix(".cpp"):
        own = path.with_suffix(".h")
        found = includes(path)
        if (source.ROOT / own).exists() and str(own) in found and found[0] != str(own):
            wrong.append(f"{path} includes {found[0]} before its own header")
    assert not wrong, "\n".join(wrong)


def test_a_tool_sees_of_the_rooms_what_its_line_names(monkeypatch):
    path = source.Path("tools/compare/climbing.cpp")
    text = '#include "base/error.h"\n#include "graph/dump/record/format.h"\n#include "graph/ir/function.h"\n'
    monkeypatch.setattr(source, "text", lambda p, read=source.text: text if p == path else read(p))
    assert climbs(path) == ["graph/ir/function.h"]


def test_what_serves_tests_only_is_called_a_fixture():
    """A header that no product source needs is a *_fixture.h, and no product source includes one of these."""
    sources = [p for p in source.with_suffix(".h", ".cpp") if p.parts[0] in {*source.rooms(), *OUTSIDE}]
    product, tests = set(), set()
    for path in sources:
        (tests if source.is_test(path) else product).update(includes(path))
    served = [str(p) for p in sources if p.suffix == ".h" and not source.is_test(p) and not is_public(str(p))]
    wrong = [f"{path} serves tests only: call it {path[:-2]}_fixture.h" for path in served if path in tests - product]
    wrong += [f"a product source includes {path}" for path in product if source.is_test(source.Path(path))]
    assert not wrong, "\n".join(wrong)


def imports(path):
    """Top-level names of the modules that a Python file imports."""
    for node in ast.walk(ast.parse(source.text(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def test_no_python_import_climbs():
    """Tools and adapters do not see each other; nothing outside tests/ imports from it."""
    product = [p for p in source.with_suffix(".py") if p.parts[0] in {*source.rooms(), *OUTSIDE}]
    packages = {p.parent for p in product if p.name == "__init__.py"}
    # tools/anynpu, adapters/tensorflow/npu_device: of what is inside of them the first name of an import is theirs.
    packages = {package for package in packages if package.parent not in packages}
    wrong = []
    for path in product:
        if path.name.endswith("_test.py"):
            continue
        # Packages of one adapter may see each other, as the map orders them: test_parts.py.
        ours = {package for package in packages if package.parent.parent.name in OUTSIDE}
        near = {package for package in ours if package.parent in path.parents}
        others = {package.name for package in packages - near if package not in path.parents}
        # Examples are scripts of users: they may import what users import.
        foreign = {"tests"} if path.parts[0] == "examples" else others | {"tests"}
        wrong += [f"{path} imports {name}" for name in imports(path) if name in foreign]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", source.rooms())
def test_a_room_opens_with_a_readme(room):
    readme = source.ROOT / room / "README.md"
    assert readme.exists(), f"{room}/README.md: what lives here, what may come in, how to add one, what to read first"
    assert len(readme.read_text(encoding="utf-8").splitlines()) <= 70, f"{readme} is longer than a page"
