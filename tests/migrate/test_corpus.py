# SPDX-License-Identifier: Apache-2.0
"""A sample of what corpus.py does with thousands of files."""

import concurrent.futures
import random

import pytest
from corpus import MODES, PROBE, checked, gathered, packages

pytestmark = pytest.mark.skipif(PROBE is None, reason="migrate_probe is not built (ninja migrate_probe)")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    root = tmp_path_factory.mktemp("files")
    paths = [path for path in gathered(packages(), root) if (root / path).stat().st_size < 60_000]
    return root, sorted(random.Random(5).sample(sorted(paths), min(150, len(paths))))


@pytest.mark.parametrize("mode", MODES)
def test_promises_hold(sample, mode, tmp_path):
    root, paths = sample
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        results, _, wrong = checked(root, paths, MODES[mode], pool, tmp_path)
    assert len(results) == len(paths)
    assert not wrong, "\n".join(wrong[:10])
