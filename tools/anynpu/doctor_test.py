# SPDX-License-Identifier: Apache-2.0
import shutil

import pytest

from anynpu import door, place
from anynpu.command_test import anynpu


def test_a_good_machine_is_well():
    code, out, err = anynpu("doctor")
    assert code == 0, out + err
    assert out.endswith("all is well\n") and "AVX2" in out and "loads in" in out


def test_a_library_that_does_not_load_is_one_finding(tmp_path):
    (tmp_path / place.CORE).write_bytes(b"no library")
    code, out, _ = anynpu("doctor", ANYNPU_LIBRARY=str(tmp_path / place.CORE))
    assert code == 1 and out.count("file too short") == 1 and "cores" in out


def test_quiet_says_only_what_must_be_mended():
    assert anynpu("doctor", "--quiet")[1] == "all is well\n"


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


def test_a_setting_that_makes_no_sense_is_found():
    code, out, _ = anynpu("doctor", ANYNPU_SOC="Ascend911")
    assert code == 1 and "Ascend911" in out


def test_features_that_are_not_built_are_shown_with_their_text():
    out = anynpu("doctor")[1]
    for entry in door.unfinished():
        assert entry.name in out and f"not built: {entry.feature}" in out


@pytest.mark.skipif(place.rpath_folder() is None, reason="needs torch-npu")
def test_an_occupied_rpath_folder_is_found(tmp_path, monkeypatch):
    from anynpu import doctor

    shutil.copy("/bin/true", tmp_path / "libascendcl.so")
    monkeypatch.setattr(place, "rpath_folder", lambda: tmp_path)
    findings = list(doctor.check_rpath())
    assert [f.grade for f in findings] == ["bad"] and "move" in findings[0].cure


def test_an_npu_that_does_not_open_is_found():
    resource = pytest.importorskip("resource")
    from anynpu import doctor

    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, limits[1]))  # less than one NPU's memory
    try:
        findings = list(doctor.check_device())
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert [f.grade for f in findings] == ["bad"] and "ulimit -v" in findings[0].text


def test_a_lost_file_is_found(monkeypatch, tmp_path):
    from anynpu import doctor

    class Lost:
        def __str__(self):
            return "anynpu/lib64/libanynpu.so"

        def locate(self):
            return tmp_path / "gone"

    monkeypatch.setattr(doctor.metadata, "files", lambda _: [Lost()])
    findings = list(doctor.check_files())
    assert [f.grade for f in findings] == ["bad"] and "first anynpu/lib64/libanynpu.so" in findings[0].text


def test_the_wrong_torch_has_a_cure_without_cuda():
    from anynpu import doctor

    assert "/whl/cpu" in doctor.install("torch", "1") and "/whl" not in doctor.install("torch-npu", "1")
