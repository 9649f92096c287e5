# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from anynpu.command_test import anynpu
from anynpu.doctor import unbuilt
from anynpu.library import door, place

ROOT = Path(__file__).parents[3]


def test_features_that_are_not_built_are_shown_with_their_text():
    out = anynpu("doctor", "--all")[1]
    for entry in door.unfinished():
        assert entry.name in out and f"not built: {entry.feature}" in out
    for feature in unbuilt.features():
        assert f"not built: {feature.feature} ({feature.names}" in out and f"-> {feature.instead}" in out


def test_without_all_each_feature_is_a_line_with_a_count():
    out = anynpu("doctor")[1]
    lines = [line for line in out.splitlines() if "not built: " in line]
    findings = list(unbuilt.check_unbuilt())
    assert len(lines) == len(findings)
    for line, finding in zip(lines, findings, strict=True):
        plural = "s" if len(finding.names) > 1 else ""
        assert line == f"note {finding.text} ({len(finding.names)} name{plural})"
    assert not [entry.name for entry in door.unfinished() if entry.name in out]
    assert "anynpu doctor --all lists" in out


# What each guide asks for, in the words that its reader would look for.
ASKED_FOR = """hccl_ops gradient AOE_MODE graph_compiler_cache_dir atc .om
    msame hi_dvpp MirroredStrategy"""


def test_every_feature_that_a_guide_asks_for_and_does_not_get_is_listed():
    shown = "\n".join(finding.shown(all_names=True) for finding in unbuilt.check_unbuilt())
    assert not [word for word in ASKED_FOR.split() if word.replace("_", " ") not in shown.replace("_", " ")]


def is_missing(probe):
    """Whether what a probe of the table names is not built."""
    kind, _, name = probe.partition(":")
    if kind == "module":
        ours = [ROOT / "adapters/tensorflow", ROOT / "adapters/hccl", ROOT / "tools"]
        places = [folder / name.replace(".", "/") for folder in ours]
        return not any(place.exists() or place.with_suffix(".py").exists() for place in places)
    if kind == "command":
        return name not in (ROOT / "pyproject.toml").read_text().split("[project.scripts]")[1].split("[")[0]
    if kind == "symbol":
        return not hasattr(door.library(), name)
    if kind == "call":
        return door.library()[name]() == 207000
    if kind == "header":
        return not any((folder / name).exists() for folder in place.headers())
    if kind == "variable":
        return [v.acts for v in door.client_variables() if v.variable == name] == [0]
    assert kind == "option", probe
    return f'"{name.split(".")[-1]}": idle(' in (ROOT / "adapters/tensorflow/npu_device/setting/options.py").read_text()


@pytest.mark.parametrize(
    "probe",
    ["module:npu_device.patch.physical", "module:hccl.manage.api", "command:npu-smi", "symbol:aclInit",
     "header:acl/acl.h", "variable:NPU_DEBUG", "option:dump_config.dump_layers", "option:precision_mode",
     "call:aclrtSynchronizeDevice"],
)  # fmt: skip
def test_a_probe_sees_what_is_there(probe):
    assert not is_missing(probe)


@pytest.mark.parametrize("feature", unbuilt.features(), ids=lambda feature: feature.feature)
def test_what_the_table_lists_is_not_there(feature):
    """What is built leaves the table."""
    assert feature.instead and feature.names
    for probe in feature.probes.split():
        assert probe == "-" or is_missing(probe), probe
