# SPDX-License-Identifier: Apache-2.0
from anynpu.command_test import anynpu
from anynpu.library import door


def test_every_setting_is_listed_with_its_value():
    out = anynpu("settings", ANYNPU_DEVICES="3")[1]
    assert [line.split()[:4] for line in out.splitlines() if line.startswith("ANYNPU_DEVICES ")] == [
        ["ANYNPU_DEVICES", "integer", "8", "3"]
    ]
    ours, theirs = out.split("\n\n")
    assert len(ours.splitlines()) == len(door.settings()) + 1
    assert len(theirs.splitlines()) == len(door.client_variables()) + 1


def test_changed_lists_only_what_is_not_the_default():
    out = anynpu("settings", "--changed", ANYNPU_DEVICES="3")[1]
    assert "ANYNPU_DEVICES" in out and "ANYNPU_SOC" not in out


def test_variables_of_the_vendor_tell_what_becomes_of_them():
    out = anynpu("settings", "--changed", SKT_ENABLE="1", NPU_DEBUG="1", JOB_ID="")[1]
    shown = {line.split()[0]: line.split()[1:3] for line in out.split("\n\n")[1].splitlines()[1:]}
    assert shown["SKT_ENABLE"] == ["none", "1"] and shown["NPU_DEBUG"] == ["acts", "1"] and "JOB_ID" not in shown
    assert not {v.variable for v in door.client_variables()} & {s.variable for s in door.settings()}
    assert all(v.sentence.endswith(".") for v in door.client_variables())
