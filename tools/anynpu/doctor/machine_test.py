# SPDX-License-Identifier: Apache-2.0
import pytest

from anynpu.command_test import anynpu
from anynpu.doctor import machine


def test_a_setting_that_makes_no_sense_is_found():
    code, out, _ = anynpu("doctor", ANYNPU_SOC="Ascend911")
    assert code == 1 and "Ascend911" in out


def test_an_npu_that_does_not_open_is_found():
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, limits[1]))  # less than one NPU's memory
    try:
        findings = list(machine.check_device())
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert [f.grade for f in findings] == ["bad"] and "ulimit -v" in findings[0].text


@pytest.fixture
def system(monkeypatch, tmp_path):
    """Writes files of /sys/devices; the process may use cores 0 to 7."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    monkeypatch.setattr(machine, "SYSTEM", tmp_path)
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda _: set(range(8)))
    return write


def test_numa_nodes_are_named_where_more_than_one_is_used(system):
    system("node/node0/cpulist", "0-3,12")
    system("node/node10/cpulist", "8-11")
    assert list(machine.check_cores()) == []
    system("node/node2/cpulist", "4-7")
    (found,) = machine.check_cores()
    assert found.grade == "note" and "2 NUMA nodes (0: cores 0-3,12, 2: cores 4-7)" in found.text
    assert "--cpunodebind=0" in found.cure


def test_cores_of_two_kinds_are_named(system):
    system("cpu_core/cpus", "0-3")
    assert list(machine.check_cores()) == []
    system("cpu_atom/cpus", "8-9")
    assert list(machine.check_cores()) == []  # which this process does not use
    system("cpu_atom/cpus", "4-7")
    (found,) = machine.check_cores()
    assert "fast cores 0-3 and slow cores 4-7" in found.text and "taskset -c 0-3" in found.cure


@pytest.mark.parametrize(
    "vendor, flags, types",
    [
        ("AuthenticAMD", "avx512f avx512_bf16", ["fp16"]),
        ("GenuineIntel", "avx512f avx512_bf16", ["bf16", "fp16"]),
        ("GenuineIntel", "avx512f avx512_bf16 avx512_fp16 amx_bf16", []),
    ],
)
def test_types_that_are_computed_in_fp32(vendor, flags, types):
    assert machine.widened({"vendor_id": vendor, "flags": flags}) == types
