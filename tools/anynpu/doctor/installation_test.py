# SPDX-License-Identifier: Apache-2.0
from anynpu.command_test import anynpu
from anynpu.doctor import installation
from anynpu.library import place


def test_a_library_that_does_not_load_is_one_finding(tmp_path):
    (tmp_path / place.CORE).write_bytes(b"no library")
    code, out, _ = anynpu("doctor", ANYNPU_LIBRARY=str(tmp_path / place.CORE))
    assert code == 1 and out.count("file too short") == 1 and "cores" in out


def test_a_lost_file_is_found(monkeypatch, tmp_path):
    class Lost:
        def __str__(self):
            return "anynpu/lib64/libanynpu.so"

        def locate(self):
            return tmp_path / "gone"

    monkeypatch.setattr(installation.metadata, "files", lambda _: [Lost()])
    findings = list(installation.check_files())
    assert [f.grade for f in findings] == ["bad"] and "first anynpu/lib64/libanynpu.so" in findings[0].text
