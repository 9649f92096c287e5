# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from anynpu.command_test import anynpu


def test_the_folder_is_shown_where_nothing_is_kept(tmp_path):
    assert anynpu("cache", "--dir", str(tmp_path)) == (0, f"{tmp_path}/kernel_cache: 0 functions, 0.0 MiB\n", "")
    assert anynpu("cache", "clear", "--dir", str(tmp_path))[:2] == (
        0,
        f"{tmp_path}/kernel_cache: 0 functions removed\n",
    )
    assert not list(tmp_path.iterdir())


def test_the_default_folder():
    assert anynpu("cache", HOME="/nowhere")[1].startswith("/nowhere/atc_data/kernel_cache: ")
    assert anynpu("cache", ASCEND_CACHE_PATH="/there")[1].startswith("/there/kernel_cache: ")
    assert anynpu("cache", "--dir", "/here", ASCEND_CACHE_PATH="/there")[1].startswith("/here/kernel_cache: ")


def test_what_is_no_entry_is_told_and_removed(tmp_path):
    folder = tmp_path / "kernel_cache"
    folder.mkdir()
    (folder / ("0" * 32 + ".o")).write_text("some object file")
    (folder / "kept.txt").write_text("somebody else's")
    code, out, _ = anynpu("cache", "--dir", str(tmp_path))
    assert code == 0 and "1 functions" in out and "it is no container of compiled functions" in out
    code, _, error = anynpu("cache", "verify", "--dir", str(tmp_path))
    assert code == 1 and "1 of 1 entries will not be used" in error
    assert anynpu("cache", "clear", "--dir", str(tmp_path))[0] == 0
    assert [path.name for path in Path(folder).iterdir()] == ["kept.txt"]
