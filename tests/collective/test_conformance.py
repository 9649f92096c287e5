# SPDX-License-Identifier: Apache-2.0
"""Collectives between processes, against NumPy: bits must be equal."""

import pytest
from hccl_c import outputs, start

SEED = 20250
PARTS = 12  # of all cases, this test takes one part for each number of ranks


@pytest.mark.parametrize("size", [2, 3, 4, 8])
def test_processes_agree_with_numpy(size, tmp_path):
    results = outputs(start("conform.py", tmp_path, size, SEED, PARTS, size), seconds=300)
    for rank, (code, text) in enumerate(results):
        assert code == 0, f"rank {rank}: {text[-2000:]}"
        assert "FAILED" not in text, f"rank {rank}: {text[-2000:]}"
        assert text.split()[-2:][0] == "cases" and int(text.split()[-1]) > 100
