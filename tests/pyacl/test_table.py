# SPDX-License-Identifier: Apache-2.0
"""The table, the library and the module say the same."""

import ctypes
import os
import re
import subprocess
import types

import lookup
import pytest
import table

import acl

KINDS = {
    "int": "i32",
    "unsigned int": "u32",
    "float": "f32",
    "double": "f64",
    "size_t": "size",
    "void": "void",
    "bool": "u8",
}
KINDS |= {f"{sign}int{bits}_t": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
KINDS |= {
    "aclFloat16": "u16",
    "aclrtStream": "ptr",
    "aclrtEvent": "ptr",
    "aclrtContext": "ptr",
    "aclrtDrvMemHandle": "ptr",
}
KINDS |= {"aclprofConfigType": "u32"}


def kind_of(c_type):
    """How a C type of acl/symbols.tsv is handed over; what is not known by name is an enumeration."""
    c_type = re.sub(r"\bconst\b", "", c_type).strip()
    if "*" in c_type or "[" in c_type or c_type.endswith(("Callback", "HostFunc")):
        return "ptr"
    return KINDS.get(c_type, "i32")


def width(kind):
    """Numbers of one width are handed over alike, whatever their sign; an address is as wide as an int64_t."""
    return {"size": "64", "ptr": "64", "u64": "64", "i64": "64"}.get(kind, kind.lstrip("iu"))


def signatures():
    lines = (lookup.ROOT / "acl/symbols.tsv").read_text().splitlines()[1:]
    for name, returns, arguments, _ in (line.split("\t") for line in lines):
        # The last word is the argument's name, but for types alone; what makes it an array belongs to the type.
        kinds = [
            kind_of(re.sub(r"\w+((\[\d*\])*)$", r"\1", one) if " " in one.strip() else one)
            for one in arguments.split(", ")
        ]
        yield name, kind_of(returns), kinds if arguments else []


def test_lines_have_the_signatures_of_their_functions():
    known = {name: (returns, kinds) for name, returns, kinds in signatures()}
    wrong, compared = [], 0
    for row in lookup.ROWS.values():
        if row.special or row.function not in known:
            continue
        compared += 1
        returns, kinds = known[row.function]
        own_returns, own_kinds = row.signature
        if [width(k) for k in kinds] != [width(k) for k in own_kinds] or width(returns) != width(own_returns):
            wrong.append(f"{row.name}: {own_returns} {own_kinds}, the function is {returns} {kinds}")
    assert not wrong and compared > 130


def library():
    """The library that the module has loaded."""
    with open("/proc/self/maps") as maps:
        return ctypes.CDLL(next(line.split()[-1] for line in maps if line.rstrip().endswith("/libanynpu.so")))


def test_a_name_is_there_if_and_only_if_its_c_function_works():
    loaded, refused = library(), {line.split("\t")[0] for line in unsupported()}
    wrong = []
    for row in lookup.ROWS.values():
        works = hasattr(loaded, row.function) and row.function not in refused
        if row.function and bool(lookup.function(row.name)) != works:
            wrong.append(row.name)
    assert wrong == []


def unsupported():
    return (lookup.ROOT / "acl/unsupported.tsv").read_text().splitlines()[1:]


def test_nothing_else_is_there():
    modules = {name: getattr(acl, name) for name in dir(acl) if isinstance(getattr(acl, name), types.ModuleType)}
    assert set(modules) == {row.module for row in lookup.ROWS.values()} - {""}
    found = {name for name in dir(acl) if name[0] != "_"} - set(modules)
    found |= {f"{module}.{name}" for module, content in modules.items() for name in dir(content) if name[0] != "_"}
    assert found == set(lookup.there())


def test_as_many_functions_are_there_as_real_code_calls():
    assert len(lookup.there()) >= 160


def test_a_name_that_is_not_there_says_why():
    with pytest.raises(AttributeError, match="^module 'acl.rt' has no attribute 'memcopy'$"):
        acl.rt.memcopy  # noqa: B018
    texts = {line.split("\t")[0]: line.split("\t")[2] for line in unsupported()}
    for name in set(lookup.ROWS) - set(lookup.there()):
        module, _, base = name.rpartition(".")
        where = getattr(acl, module) if module else acl
        function = lookup.ROWS[name].function
        with pytest.raises(AttributeError) as error:
            getattr(where, base)
        assert f"'{base}': " in str(error.value)
        assert texts.get(function, f"{function} is not built") in str(error.value)


def test_a_function_tells_what_it_takes_and_gives():
    assert acl.rt.malloc.__doc__ == "malloc(size, policy) -> dev_ptr, ret\n\naclrtMalloc"
    assert acl.rt.malloc.__module__ == "acl.rt" and acl.init.__module__ == "acl"


def test_modules_inside_are_imported_by_name(script):
    done = script("import acl.rt\nfrom acl import mdl, util\nprint(acl.rt.malloc, mdl.__name__)")
    assert done.returncode == 0 and done.stdout.endswith("acl.mdl\n"), done.stderr


@pytest.mark.parametrize(
    "cells, text",
    [
        (["rt.x", "aclX", "size:u23", "ret:code"], "'u23' is no word"),
        (["rt.x", "aclX", "size", "ret:code"], "is not"),
        (["rt.X", "aclX", "-", "ret:code"], "is not module.name"),
        (["rt.x", "aclX", "a:i32? b:i32", "ret:code"], "follows one that may be left out"),
        (["rt.x", "aclX", "a:list/u23", "ret:code"], "'u23' is no number"),
    ],
)
def test_a_line_that_makes_no_sense_is_refused(tmp_path, cells, text):
    path = tmp_path / "functions.tsv"
    path.write_text("\t".join(table.COLUMNS) + "\n" + "\t".join(cells) + "\n")
    with pytest.raises(table.TableError, match=f"functions.tsv:2: .*{text}"):
        table.read(path)


# Names with an underscore that every version keeps for extensions of the limited API (PEP 384).
KEPT = {"_Py_NoneStruct", "_Py_BuildValue_SizeT", "_PyObject_CallFunction_SizeT", "_PyObject_CallMethod_SizeT"}


def test_it_needs_what_every_python_has():
    needed = subprocess.run(["nm", "-D", "--undefined-only", acl.__file__], capture_output=True, text=True, check=True)
    names = set(re.findall(r"\b_?Py\w+", needed.stdout))
    assert len(names) > 40 and {name for name in names if name.startswith("_Py")} <= KEPT
    assert os.path.basename(acl.__file__) == "acl.abi3.so"
