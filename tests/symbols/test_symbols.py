# SPDX-License-Identifier: Apache-2.0
"""Every name the vendor's wheel links is there, nothing is exported that no table lists, refusals keep their text."""

import csv
import ctypes
import pathlib
import re
import sys

import elf
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = ROOT / "build" / "lib"
CORE = LIBRARIES / "libanynpu.so"
WHEEL = pathlib.Path(next((p for p in sys.path if (pathlib.Path(p) / "torch_npu").is_dir()), "")) / "torch_npu" / "lib"


def table(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


SYMBOLS = {row["name"]: row for row in table(ROOT / "acl" / "symbols.tsv")}
UNSUPPORTED = table(ROOT / "acl" / "unsupported.tsv")
ROWS = [row["name"] for path in sorted((ROOT / "acl/aclnn/functions").glob("*.tsv")) for row in table(path)]
LARGEST = {row["function"] + "GetMaxWorkspaceSize" for row in table(ROOT / "acl" / "max_workspace.tsv")}
ENTRIES = {name for row in ROWS for name in (row, row + "GetWorkspaceSize")} | LARGEST


@pytest.fixture(scope="module")
def exported():
    assert CORE.exists(), f"{CORE} is missing; build it first: make build"
    return elf.defined(CORE)


@pytest.fixture(scope="module")
def offered():
    """Names of the vendor-named libraries."""
    return {path.name: elf.defined(path) for path in LIBRARIES.glob("lib*.so") if not path.name.startswith("libanynpu")}


def wanted_by(library):
    """Undefined symbols of a wheel's library that neither torch, the wheel, Python nor the system defines."""
    torch = WHEEL.parents[1] / "torch" / "lib"
    others = {*torch.glob("*.so*"), *WHEEL.glob("*.so"), pathlib.Path(sys.executable).resolve()} - {library}
    for path in (library, torch / "libtorch_python.so"):
        others |= {f for f in elf.loaded_with(path) if "anynpu" not in str(f) and "torch_npu.libs" not in str(f)}
    known = set().union(*(elf.defined(path) for path in others if path.parent != LIBRARIES))
    return elf.undefined(library) - known


@pytest.mark.parametrize("library", ["libtorch_npu.so", "libtensorpipe.so"])
def test_every_linked_name_resolves(library, exported, offered):
    wanted = {name for name in wanted_by(WHEEL / library) if not name.startswith(("_Py", "Py", "_Z"))}
    assert len(wanted) >= 8
    assert wanted - exported == set()
    assert wanted - set().union(*offered.values()) == set()


def test_exports_are_exactly_the_tables(exported):
    assert exported - set(SYMBOLS) - ENTRIES == set(), "exported, but in no table"
    assert (set(SYMBOLS) | ENTRIES) - exported == set(), "in a table, but not exported"


def test_filter_libraries_offer_only_what_the_core_has(exported, offered):
    assert set().union(*offered.values()) - exported == set()
    for name, row in SYMBOLS.items():
        for library in filter(None, row["library"].split(",")):
            if library != "libanynpu":
                assert name in offered[library + ".so"], f"{name} is not in {library}"


def test_the_newer_name_of_the_runtime_shows_the_same(offered):
    assert offered["libacl_rt.so"] == offered["libascendcl.so"]
    count = ctypes.c_uint32()
    assert ctypes.CDLL(str(LIBRARIES / "libacl_rt.so")).aclrtGetDeviceCount(ctypes.byref(count)) == 0
    assert count.value > 0


@pytest.mark.parametrize("name", ["libopapi_math.so", "libopapi_nn.so"])
def test_the_newer_names_of_the_operators_show_the_same(offered, name):
    assert offered[name] == offered["libopapi.so"]
    assert ctypes.CDLL(str(LIBRARIES / name)).aclnnAddGetWorkspaceSize(*[None] * 6) == 161001


def declared(header):
    text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"^#.*(\\\n.*)*$", "", text, flags=re.M)
    return set(re.findall(r"\b((?:acl|Msprof|Hccl|anynpu_|mspti|mstx|hal|dcmi|dsmi)\w+)\((?!\*)[^;{}]*\);", text))


def test_headers_declare_exactly_the_hand_written_names():
    folder = ROOT / "acl" / "include"
    headers = [
        header for header in folder.rglob("*.h") if header.parent.name not in ("ge", "parser")
    ]  # of classes in C++
    found = set().union(*map(declared, headers))
    assert found - set(SYMBOLS) == set(), "declared, but not in symbols.tsv"
    of_classes = {name for name in SYMBOLS if name.startswith("_Z")}  # which no C header can declare
    assert set(SYMBOLS) - found - of_classes <= {row["name"] for row in UNSUPPORTED}, "in symbols.tsv, but in no header"


@pytest.mark.parametrize("row", UNSUPPORTED, ids=lambda row: row["name"])
def test_unfinished_doors_refuse_with_their_text(row, exported):
    core = ctypes.CDLL(str(CORE))
    core.aclGetRecentErrMsg.restype = ctypes.c_char_p
    makes_object = SYMBOLS[row["name"]]["returns"].endswith("*")
    entry = core[row["name"]]
    entry.restype = ctypes.c_void_p if makes_object else ctypes.c_int
    assert entry(None, None, None, None, None, None) == (None if makes_object else 207000)
    text = core.aclGetRecentErrMsg().decode()
    assert text == f"[{row['name']}] {row['feature']}: {row['text']}"
