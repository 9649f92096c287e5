# SPDX-License-Identifier: Apache-2.0
"""Collectives between processes, against NumPy: bits must be equal."""

import os

import pytest
from hccl_c import outputs, start

SEED = 20250
# Of all cases, this test takes one part for each number of ranks; `make conformance` takes all.
PARTS = int(os.environ.get("ANYNPU_CONFORMANCE_PARTS", "12"))


@pytest.mark.parametrize("size", [2, 3, 4, 8])
def test_processes_agree_with_numpy(size, tmp_path):
    results = outputs(start("conform.py", tmp_path, size, SEED, PARTS, size % PARTS), seconds=300 * 12 / PARTS)
    print(f"{size} ranks: {results[0][1].split()[-1]} cases")
    for rank, (code, text) in enumerate(results):
        assert code == 0, f"rank {rank}: {text[-2000:]}"
        assert "FAILED" not in text, f"rank {rank}: {text[-2000:]}"
        assert text.split()[-2:][0] == "cases" and int(text.split()[-1]) > 100
