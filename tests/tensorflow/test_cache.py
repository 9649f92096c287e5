# SPDX-License-Identifier: Apache-2.0
"""op_compiler_cache_mode and op_compiler_cache_dir: what a process compiled, the next one finds on disk. Whatever
happens to the files, results have the same bits."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import python_process

RUN = Path(__file__).with_name("cached_run.py")
FREE = ("ANYNPU_COMPILE_CACHE", "ASCEND_CACHE_PATH", "ASCEND_MAX_OP_CACHE_SIZE", "ASCEND_REMAIN_CACHE_SIZE_RATIO")


class Run:
    """A process that trains; begun at once, ended when its results are asked for."""

    def __init__(self, options=(), layers=3, largest_file=None, **variables):
        known = {name: value for name, value in os.environ.items() if name not in FREE}
        known["PYTHONPATH"] = os.pathsep.join([*(path for path in sys.path if path), known.get("PYTHONPATH", "")])
        known |= {"TF_CPP_MIN_LOG_LEVEL": "0"} | variables
        arguments = [json.dumps(dict(options)), str(layers), *([str(largest_file)] if largest_file else [])]
        self.process = python_process.start(
            [sys.executable, str(RUN), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=known
        )

    def end(self):
        out, self.told = self.process.communicate(timeout=600)
        assert self.process.returncode == 0, self.told
        result = json.loads(out.splitlines()[-1])
        self.bits, (self.cache,) = result["bits"], result["cache"].values()
        self.warnings = [line for line in self.told.splitlines() if line.startswith("anynpu: compile cache: ")]
        return self


def run(folder, mode="enable", **more):
    return Run({"op_compiler_cache_mode": mode, "op_compiler_cache_dir": str(folder)}, **more).end()


@pytest.fixture(scope="module")
def plain():
    """Without a cache."""
    done = Run({"op_compiler_cache_mode": "disable"}).end()
    assert done.cache == "" and "Compile cache of" not in done.told
    return done


@pytest.fixture
def filled(tmp_path, plain):
    first = run(tmp_path / "made")
    assert first.cache.startswith("miss ") and first.bits == plain.bits and not first.warnings
    return tmp_path / "made"


def entries(folder):
    return sorted((folder / "kernel_cache").glob("*.o"))


@pytest.mark.promise("a function compiled once is taken from disk by the next process, with the same bits")
def test_the_next_process_finds_it(filled, plain):
    again = run(filled)
    assert again.cache.startswith("hit ") and again.bits == plain.bits
    key = again.cache.split()[1]
    [line] = [line for line in again.told.splitlines() if "Compile cache of __inference_step" in line]
    assert line.endswith(f": hit {key}") and "[I:" not in line.split("Compile")[0]
    told = json.loads((filled / "kernel_cache" / f"{key}.json").read_text())
    assert told["key"] == key and "__inference_step" in told["function"] and told["nodes"] > 0
    ini = (filled / "op_cache.ini").read_text().splitlines()
    assert "[op_compiler_cache]" in ini and "ascend_max_op_cache_size=500" in ini


def test_disable_neither_reads_nor_writes(filled, plain):
    before = [path.stat().st_mtime_ns for path in entries(filled)]
    off = run(filled, "disable")
    assert off.cache == "" and off.bits == plain.bits
    assert run(filled, ANYNPU_COMPILE_CACHE="disable").cache == "", "the variable wins"
    assert [path.stat().st_mtime_ns for path in entries(filled)] == before


def test_force_begins_anew(filled, plain):
    (filled / "kernel_cache" / ("0" * 32 + ".o")).write_text("old")
    forced = run(filled, "force")
    assert forced.cache.startswith("miss ") and forced.bits == plain.bits
    assert "0" * 32 not in [path.stem for path in entries(filled)]
    assert run(filled).cache.startswith("hit ")


def test_another_model_is_another_entry(filled):
    assert run(filled, layers=4).cache.startswith("miss ")
    assert run(filled).cache.startswith("hit ")


def test_the_default_folder(tmp_path, plain):
    assert Run(HOME=str(tmp_path)).end().cache.startswith("miss ")
    assert entries(tmp_path / "atc_data")
    elsewhere = Run(HOME=str(tmp_path), ASCEND_CACHE_PATH=str(tmp_path / "there")).end()
    assert elsewhere.cache.startswith("miss ") and entries(tmp_path / "there") and elsewhere.bits == plain.bits


def test_a_damaged_entry_is_told_once_and_made_anew(filled, plain):
    whole = {path: path.read_bytes() for path in entries(filled)}
    for path, bytes in whole.items():
        path.write_bytes(bytes[: len(bytes) // 2] + b"\xff" + bytes[len(bytes) // 2 + 1 :])
    damaged = run(filled)
    assert damaged.cache.startswith("miss ") and damaged.bits == plain.bits
    assert len(damaged.warnings) == 1 and "is of no use, and is made anew" in damaged.warnings[0]
    assert {path: path.read_bytes() for path in entries(filled)} == whole
    assert run(filled).cache.startswith("hit ")


def test_a_full_disk_is_told_once(tmp_path, plain):
    full = run(tmp_path, largest_file=4096, ASCEND_PROCESS_LOG_PATH=str(tmp_path / "log"))
    assert full.cache.startswith("miss ") and full.bits == plain.bits
    assert len(full.warnings) == 1 and "nothing is kept: " in full.warnings[0]
    assert not entries(tmp_path) and not list((tmp_path / "kernel_cache").glob(".*"))


def test_a_folder_that_cannot_be_made_is_told_once(tmp_path, plain):
    (tmp_path / "file").write_text("in the way")
    blocked = run(tmp_path / "file")
    assert blocked.bits == plain.bits
    assert len(blocked.warnings) == 1 and "nothing is kept: " in blocked.warnings[0]


def test_two_processes_fill_one_cache(tmp_path, plain):
    options = {"op_compiler_cache_dir": str(tmp_path)}
    both = [Run(options | {"op_compiler_cache_mode": mode}) for mode in ("enable", "force")]
    for one in both:
        assert one.end().bits == plain.bits and not one.warnings
    assert run(tmp_path).cache.startswith("hit ")
    assert not list((tmp_path / "kernel_cache").glob(".*"))


def test_the_oldest_go_where_room_is_short(filled, plain):
    (filled / "op_cache.ini").write_text(
        "[op_compiler_cache]\nascend_max_op_cache_size=1\nascend_remain_cache_size_ratio=50\n"
    )
    old = filled / "kernel_cache" / ("0" * 32 + ".o")
    old.write_bytes(bytes(1 << 20))
    os.utime(old, (0, 0))
    assert run(filled, layers=4).bits != plain.bits
    assert not old.exists() and run(filled).cache.startswith("hit ")


@pytest.mark.parametrize("options", [{"op_debug_level": 1}, {"op_debug_level": 3}])
def test_who_debugs_gets_everything_compiled(filled, plain, options, tmp_path):
    seen = Run({"op_compiler_cache_dir": str(filled), "debug_dir": str(tmp_path), **options}).end()
    assert seen.cache == "" and seen.bits == plain.bits
    assert "The compile cache is off, for op_debug_level or op_debug_config is set" in seen.told
