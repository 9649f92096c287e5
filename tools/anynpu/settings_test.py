# SPDX-License-Identifier: Apache-2.0
from anynpu import door
from anynpu.command_test import anynpu


def test_every_setting_is_listed_with_its_value():
    out = anynpu("settings", ANYNPU_DEVICES="3")[1]
    assert [line.split()[:4] for line in out.splitlines() if line.startswith("ANYNPU_DEVICES ")] == [
        ["ANYNPU_DEVICES", "integer", "8", "3"]
    ]
    assert len(out.splitlines()) == len(door.settings()) + 1


def test_changed_lists_only_what_is_not_the_default():
    out = anynpu("settings", "--changed", ANYNPU_DEVICES="3")[1]
    assert "ANYNPU_DEVICES" in out and "ANYNPU_SOC" not in out
