# SPDX-License-Identifier: Apache-2.0
"""A small project to migrate, and the rule for it."""

import pytest
from faces import OLD, RULE, put


@pytest.fixture
def project(tmp_path):
    (tmp_path / "rule.yaml").write_text(RULE)
    return put(tmp_path / "project", {"a.py": OLD, "sub/b.py": "x = 1\n", "data.bin": bytes(range(256))})
