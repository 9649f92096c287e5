# SPDX-License-Identifier: Apache-2.0
"""Every aclnn function runs its described cases against torch CPU in float64."""

import pathlib
import runpy

import pytest
from case import CASES, FUNCTIONS, run

from device import Device

for description in sorted(pathlib.Path(__file__).parent.glob("describe_*.py")):
    runpy.run_path(str(description))


@pytest.fixture(scope="module")
def device():
    return Device()


@pytest.mark.parametrize("name", sorted(set(CASES) & set(FUNCTIONS)))
def test_function(device, name):
    assert sum(run(device, c) for c in CASES[name]) > 0


def test_every_function_is_described():
    """A function without a case may not be exported, and a case needs its function."""
    assert sorted(set(FUNCTIONS) - set(CASES)) == []
    assert sorted(set(CASES) - set(FUNCTIONS)) == []
