# SPDX-License-Identifier: Apache-2.0
"""The wheel carries what its libraries need: any other machine has only the C and C++ runtimes."""

import pathlib
import re

import elf
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/lib"
LIBRARIES = {path.name: path for path in FOLDER.glob("lib*.so")}
EVERYWHERE = {f"lib{name}" for name in ("c.so.6", "m.so.6", "dl.so.2", "pthread.so.0", "gcc_s.so.1", "stdc++.so.6")}
EVERYWHERE |= {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
BY_PROCESS = {"libanynpu_tensorflow.so": {"libtensorflow_cc.so.2"}}  # loaded where TensorFlow has been imported


def test_there_are_libraries():
    assert {"libanynpu.so", "libanynpu_onednn.so", "libascendcl.so"} <= set(LIBRARIES)


@pytest.mark.promise("the wheel needs no Debian package")
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_needs_only_its_neighbours_and_the_runtimes(name):
    text = elf.run("readelf", "-d", str(LIBRARIES[name]))
    needed = set(re.findall(r"(?:NEEDED|FILTER).*\[(.+)\]", text))
    assert needed - EVERYWHERE - BY_PROCESS.get(name, set()) - set(LIBRARIES) == set(), (
        "cmake/private_library.cmake: bundle() takes it along"
    )
    assert not needed & set(LIBRARIES) or "[$ORIGIN" in text, "it does not look for its neighbours"
    assert f"[{name}]" in text.partition("SONAME")[2].splitlines()[0], "it does not go by its own name"


def newest(name, files):
    """The highest version of a runtime that any of the files asks for."""
    found = {found for file in files for found in re.findall(rf"\({name}_([\d.]+)\)", elf.run("objdump", "-T", file))}
    return max(tuple(map(int, version.split("."))) for version in found)


@pytest.mark.promise("the wheel runs on Linux with glibc 2.36 and libstdc++ of GCC 12")
def test_the_runtimes_are_no_newer_than_the_page_says():
    files = [*map(str, LIBRARIES.values()), str(ROOT / "build/bin/anynpu-migrate")]
    assert newest("GLIBC", files) <= (2, 36) and newest("GLIBCXX", files) <= (3, 4, 30)
    assert "glibc 2.36 or later" in (ROOT / "docs/install.md").read_text()
