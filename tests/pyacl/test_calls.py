# SPDX-License-Identifier: Apache-2.0
"""Every function of the module, called as a script would."""

import json

import lookup
import pytest


@pytest.fixture(scope="module")
def worked(script, tmp_path_factory):
    """Names of the functions that calls.py called with success."""
    done = script(lookup.ROOT / "tests/pyacl/calls.py", str(tmp_path_factory.mktemp("calls")))
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("module", sorted({row.module for row in lookup.ROWS.values()}))
def test_every_function_works(worked, module):
    there = {name for name in lookup.there() if lookup.ROWS[name].module == module}
    assert sorted(there - worked) == []
