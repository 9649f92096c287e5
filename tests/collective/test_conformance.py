# SPDX-License-Identifier: Apache-2.0
"""Collectives between processes, and between threads of one process, against NumPy: bits must be equal."""

import os
import time

import pytest
from conform_case import Case, pairs_of, pairwise, product
from conform_job import cases, rows
from hccl_c import outputs, start

SEED = 20250
# This test takes cases that hold every pair of values, for each number of ranks in both kinds of processes;
# `make conformance` takes all.
SELECTION = os.environ.get("ANYNPU_CONFORMANCE", "pairwise")
# NumPy's large arrays stay in the heap: pages that are given back and taken again would take most of the time.
HEAP = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 34)}
SECONDS = {"pairwise": 300, "product": 3600}[SELECTION]


@pytest.mark.promise("collectives of processes equal NumPy bit by bit")
@pytest.mark.parametrize("one_process", [False, True], ids=["processes", "one_process"])
@pytest.mark.parametrize("size", [2, 3, 4, 8])
def test_ranks_agree_with_numpy(size, one_process, tmp_path):
    seed = SEED + 2 * size + one_process
    begin = time.monotonic()
    devices = [size] if one_process else []
    count = 1 if one_process else size
    processes = start("conform.py", tmp_path, count, SELECTION, seed, *devices, environment=HEAP)
    results = outputs(processes, seconds=SECONDS)
    kind = "one process" if one_process else "processes"
    for rank, (code, text) in enumerate(results):
        assert code == 0, f"rank {rank}: {text[-2000:]}"
        assert "FAILED" not in text, f"rank {rank}: {text[-2000:]}"
        assert text.split()[-2] == "cases" and int(text.split()[-1]) > 200
    print(f"{size} ranks, {kind}: {results[0][1].split()[-1]} cases in {time.monotonic() - begin:.0f} s")


def test_few_cases_hold_every_pair():
    everything, few = product(), pairwise(SEED)
    assert set().union(*map(pairs_of, few)) == set().union(*map(pairs_of, everything))
    assert len(few) < len(everything) / 10
    assert set(few) <= set(everything) and len(Case._fields) == 5


def test_every_collective_has_a_case():
    moving = {name for name, row in rows().items() if row.get("moves") != "false"}
    assert moving == {described.row for described in cases().values()} and len(moving) > 10
