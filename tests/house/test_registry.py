# SPDX-License-Identifier: Apache-2.0
"""What the sources declare is what the library shows: nothing dropped by the linker, nothing left out of the docs."""

import re

import pytest
import source

door = pytest.importorskip("anynpu.library.door")


def product_sources():
    paths = [p for p in source.with_suffix(".cpp", ".h") if p.parts[0] in source.rooms()]
    return [p for p in paths if not source.is_test(p)]


def declared(pattern):
    """{name: file} of what a macro declares in the sources."""
    found = {}
    for path in product_sources():
        for name in re.findall(pattern, source.text(path), re.MULTILINE):
            found[name] = path
    return found


def test_every_operator_of_the_sources_is_registered():
    in_sources = {name: path for path in product_sources() for name in source.operators(path)}
    shown = {op.name for op in door.operators()}
    missing = {name: str(path) for name, path in in_sources.items() if name not in shown}
    assert not missing, f"declared but not in the library (is its folder a room?): {missing}"
    assert len(shown) >= len(in_sources) > 0


def test_every_row_of_the_tables_is_a_function():
    rows = {}
    for path in source.with_suffix(".tsv"):
        if "functions" in path.parts:
            rows |= {line.split("\t")[0]: path for line in source.text(path).splitlines()[1:] if line.strip()}
    shown = {f.name: f for f in door.functions()}
    assert set(rows) == set(shown)
    broken = [f"{f.name}: {f.problem}" for f in shown.values() if f.problem]
    assert not broken, "\n".join(broken)


def test_every_operator_is_reached_or_used():
    """An operator that no table names is dead weight, unless other code creates it by its name."""
    reached = {f.operator_name.split(":")[-1] for f in door.functions()}
    types = next(p for p in source.with_suffix(".tsv") if p.name == "operator_types.tsv")
    reached |= {line.split("\t")[4] for line in source.text(types).splitlines()[1:]}
    text = "\n".join(source.text(path) for path in product_sources())
    # One mention is the operator's own declaration.
    mentions = {op.name: len(re.findall(f'"{op.name}[":]', text)) for op in door.operators()}
    dead = [name for name, count in mentions.items() if name not in reached and count < 2]
    assert not dead, (
        f"name them in a table of acl/aclnn/functions or acl/singleop, or in graph/node, or take them out: {dead}"
    )


def test_every_setting_of_the_sources_is_listed():
    in_sources = declared(r'NPU_SETTING\(\s*[\w:]+,\s*\w+,\s*"(\w+)"')
    in_sources |= declared(r'Setting<[\w:]+>\s+[\w:]+\(\s*"(\w+)"')
    shown = {setting.variable for setting in door.settings()}
    assert set(in_sources) <= shown
    assert shown <= set(in_sources), "listed, but declared in another way: teach this test its form"


SYSTEM = {"HOME", "TMPDIR", "XDG_RUNTIME_DIR", "TERM", "LD_PRELOAD", "PYTHONPATH"}
# Variables of the frameworks that are trained with, of no effect on what is computed here.
FRAMEWORKS = {"TF_CPP_MIN_LOG_LEVEL", "TORCH_TRANSFER_TO_NPU", "TASK_QUEUE_ENABLE"}


def is_outside(path):
    return path.parts[0] in ("adapters", "tools") and not source.is_test(path) and not path.name.endswith("_test.py")


def read_in_cpp():
    """{what is asked for: file}: the name, or the expression that gives it."""
    paths = [*product_sources(), *(p for p in source.with_suffix(".cpp", ".h") if is_outside(p))]
    calls = [(path, call) for path in paths for call in re.findall(r"(?<![\".])getenv\(([^)]*)\)", source.text(path))]
    return {call.strip('"'): path for path, call in calls if path != source.Path("base/setting.cpp")}


def asked_for():
    """Names that an adapter asks the door for, and that Python reads by itself."""
    for path in filter(is_outside, source.with_suffix(".cpp")):
        for name in re.findall(r'(?:anynpu_setting_in_force|is_on)\("(\w+)"\)', source.text(path)):
            yield name, path
    for path in filter(is_outside, source.with_suffix(".py")):
        for name in re.findall(r"""environ(?:\.get\(|\.setdefault\(|\[)"(\w+)\"""", source.text(path)):
            yield name, path


def test_the_environment_is_read_through_settings():
    """getenv of another name would be a knob that nobody can find. The system's own variables are no knobs."""
    wrong = {name: str(path) for name, path in read_in_cpp().items() if name not in SYSTEM | FRAMEWORKS}
    assert not wrong, f"declare them with NPU_SETTING; adapters ask anynpu_setting_in_force: {wrong}"


def test_adapters_and_tools_read_what_is_listed():
    listed = {one.variable for one in [*door.settings(), *door.client_variables()]}
    wrong = {name: str(path) for name, path in asked_for() if name not in listed | SYSTEM | FRAMEWORKS}
    assert not wrong, f"give them a row in acl/environment.tsv: {wrong}"


def test_every_setting_says_what_it_does():
    for setting in door.settings():
        assert setting.sentence.endswith("."), f"{setting.variable}: '{setting.sentence}' is no sentence"
        assert setting.type in ("integer", "number", "switch", "text")


def column(table, name):
    head, *rows = (line.split("\t") for line in source.text(source.Path(table)).splitlines())
    return [row[head.index(name)] for row in rows]


def test_types_of_calls_are_the_vendors():
    """In profiles: those who read them know the types that the door knows."""
    table, types = "acl/profiling/call_types.tsv", set(column("acl/singleop/operator_types.tsv", "type"))
    assert not set(column(table, "type")) - types
    called = {re.sub("^aclnn(Inplace(?=[A-Z]))?", "", one.name) for one in door.functions()}
    assert not set(column(table, "call")) - called
