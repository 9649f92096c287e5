# SPDX-License-Identifier: Apache-2.0
from anynpu.command_test import anynpu


def test_a_good_machine_is_well():
    code, out, err = anynpu("doctor")
    assert code == 0, out + err
    assert out.endswith("all is well\n") and "AVX2" in out and "loads in" in out


def test_quiet_says_only_what_must_be_mended():
    assert anynpu("doctor", "--quiet")[1] == "all is well\n"
