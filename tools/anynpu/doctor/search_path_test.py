# SPDX-License-Identifier: Apache-2.0
import shutil

import pytest

from anynpu.command_test import anynpu
from anynpu.doctor import search_path
from anynpu.library import place


def test_a_foreign_library_in_the_path_is_found(tmp_path):
    (tmp_path / "libascendcl.so").write_bytes(b"\x7fELF of another vendor")
    code, out, _ = anynpu("doctor", "--quiet", LD_LIBRARY_PATH=str(tmp_path))
    assert code == 1
    assert f"BAD  C programs load {tmp_path}/libascendcl.so, which is not ours" in out
    assert f"-> take {tmp_path} out of LD_LIBRARY_PATH" in out


def test_our_own_libraries_in_the_path_are_no_clash():
    assert anynpu("doctor", "--quiet", LD_LIBRARY_PATH=str(place.libraries()))[0] == 0


def test_another_toolkit_is_named(tmp_path):
    for folder in ("lib64", "runtime", "compiler"):
        (tmp_path / folder).mkdir()
    env = {"ASCEND_HOME_PATH": str(tmp_path), "ASCEND_OPP_PATH": str(tmp_path)}
    code, out, _ = anynpu("doctor", **env)
    assert code == 0 and f"note ASCEND_HOME_PATH={tmp_path} names another toolkit" in out
    (tmp_path / "lib64/libopapi_math.so").touch()
    code, out, _ = anynpu("doctor", **env)
    assert code == 1 and "asks the libraries there before ours" in out


def test_half_a_toolkit_in_the_environment_is_found(tmp_path):
    code, out, _ = anynpu("doctor", "--quiet", ASCEND_HOME_PATH=str(tmp_path), ASCEND_OPP_PATH="")
    assert code == 1
    assert f"torch-npu will not start without {tmp_path}/runtime" in out and "ASCEND_OPP_PATH is not set" in out


def test_the_environment_we_print_is_well():
    assert anynpu("doctor", "--quiet", **place.toolkit())[0] == 0


@pytest.mark.skipif(place.rpath_folder() is None, reason="needs torch-npu")
def test_an_occupied_rpath_folder_is_found(tmp_path, monkeypatch):
    shutil.copy("/bin/true", tmp_path / "libascendcl.so")
    monkeypatch.setattr(place, "rpath_folder", lambda: tmp_path)
    findings = list(search_path.check_rpath())
    assert [f.grade for f in findings] == ["bad"] and "move" in findings[0].cure
