# SPDX-License-Identifier: Apache-2.0
"""A sample of what corpus.py does with thousands of files."""

import concurrent.futures
import random

import pytest
from corpus import LEAST, MODES, PROBE, checked_modes, gathered, packages, splice_all, troubles

needs_probe = pytest.mark.skipif(PROBE is None, reason="migrate_probe is not built (ninja migrate_probe)")
SPLICED = ["compat-compile", "tf2-strategy-fit", "torch-device-setting", "torch-distributed-begin"]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    root = tmp_path_factory.mktemp("files")
    paths = [path for path in gathered(packages(), root) if (root / path).stat().st_size < 60_000]
    if not paths:
        pytest.skip("none of the packages is installed")
    return root, sorted(random.Random(5).sample(sorted(paths), min(120, len(paths))))


@needs_probe
def test_promises_hold(sample, tmp_path):
    root, paths = sample
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for mode, results, _, wrong in checked_modes(root, paths, MODES, pool, tmp_path):
            assert len(results) == len(paths)
            assert not wrong, mode + "\n" + "\n".join(wrong[:10])


@needs_probe
def test_promises_hold_with_examples_put_in(sample, tmp_path):
    root, paths = sample
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        met, wrong = splice_all(SPLICED, paths, root, pool, tmp_path)
    assert not wrong, "\n".join(wrong[:10])
    assert met == dict.fromkeys(SPLICED, LEAST)


def row(line, last_line=None, insert=False):
    return {"rule": "r", "line": line, "last_line": last_line or line, "insert": insert}


@pytest.mark.parametrize(
    "after, rows, told",
    [
        (b"a = 1\nb = 3\nc = 3\n", [row(2)], []),
        (b"a = 1\nb = 3\nc = 4\n", [row(2)], ["lines changed that no row names: [3]"]),
        (b"a = 1\nb = 3\nc = 3\n", [row(2), row(3)], ["row of r names line 3, which did not change"]),
        (b"a = 1\nb =\nc = 3\n", [row(2)], ["no longer compiles"]),
        (b"a = 1\nnew = 0\nb = 2\nc = 3\n", [row(1, insert=True)], []),
        (b"a = 1\nnew = 0\nb = 2\nc = 3\n", [row(2, insert=True)], []),
        (b"a = 1\nb = 2\nc = 3\nnew = 0\n", [row(1, insert=True)], None),
        (b"a = 1\r\nb = 2\nc = 3\n", [], ["lines changed that no row names: [1]"]),
        (b"a = 1\nb = 2\nc = 3", [], ["lines changed that no row names: [3]"]),
    ],
)
def test_a_broken_promise_is_seen(after, rows, told):
    found = troubles(b"a = 1\nb = 2\nc = 3\n", after, rows)
    assert found == told if told is not None else len(found) == 2
