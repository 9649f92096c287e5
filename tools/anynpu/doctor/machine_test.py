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
