# SPDX-License-Identifier: Apache-2.0
"""Every aclnn function runs its described cases against torch CPU in float64."""

import described  # noqa: F401 - fills CASES
import pytest
from case import CASES, FUNCTIONS, RULES, refuse_each, run, type_name

from device import DTYPES, Device


@pytest.fixture(scope="module")
def device():
    return Device()


@pytest.mark.promise("every aclnn function gives what a reference gives that is not ours")
@pytest.mark.parametrize("name", sorted(set(CASES) & set(FUNCTIONS)))
def test_function(device, name):
    assert sum(run(device, c) for c in CASES[name]) > 0


@pytest.mark.promise("element types that the vendor does not document, and torch-npu does not pass, are refused")
@pytest.mark.parametrize("name", sorted(set(CASES) & set(RULES)))
def test_other_types_are_refused(device, name):
    """Argument by argument: what the documentation does not list, and torch-npu does not need, ends in phase 1."""
    limited = any(set(map(type_name, DTYPES)) - set(rule.types) for rule in RULES[name].values() if rule.types)
    assert refuse_each(device, name) > 0 or not limited


def test_every_function_is_described():
    """A function without a case may not be exported, and a case needs its function."""
    assert sorted(set(FUNCTIONS) - set(CASES)) == []
    assert sorted(set(CASES) - set(FUNCTIONS)) == []
