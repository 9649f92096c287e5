# SPDX-License-Identifier: Apache-2.0
"""Collectives between hosts against NumPy: bits must be equal."""

import os
import time

import pytest
from hccl_c import outputs
from placed import COLLECTIVE, by_root, left_behind

SEED = 20260
SELECTION = os.environ.get("ANYNPU_CONFORMANCE", "pairwise")
# NumPy's large arrays stay in the heap: pages that are given back and taken again would take most of the time.
HEAP = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 34)}
SECONDS = {"pairwise": 600, "product": 7200}[SELECTION]


@pytest.mark.promise("collectives between hosts equal NumPy bit by bit")
@pytest.mark.parametrize(
    "layout",
    [pytest.param((2, 2), marks=pytest.mark.few), (1, 1), (1, 1, 1), (4, 4), (3, 1)],
    ids=lambda each: "x".join(map(str, each)),
)
def test_ranks_agree_with_numpy(layout, hosts, tmp_path):
    some, begin = hosts(len(layout)), time.monotonic()
    environment = {**HEAP, "CONFORM_HOSTS": ",".join(map(str, layout))}
    arguments = (SELECTION, SEED + sum(layout) * len(layout))
    processes = by_root(some, layout, tmp_path, COLLECTIVE / "conform.py", *arguments, environment=environment)
    results = outputs(processes, seconds=SECONDS)
    for rank, (code, text) in enumerate(results):
        assert code == 0 and "FAILED" not in text, f"rank {rank}: {text[-2000:]}"
        assert text.split()[-2] == "cases" and int(text.split()[-1]) > 200
    received, sent = some[0].traffic()
    assert received > 100_000_000 and sent > 100_000_000  # it went over the wire
    assert [left_behind(host) for host in some] == [[]] * len(layout)
    print(f"{layout} ranks: {results[0][1].split()[-1]} cases in {time.monotonic() - begin:.0f} s")


def test_the_order_of_sums_is_told_apart():
    """float32 sums of (a + b) + (c + d) are not those of a + b + c + d: a wrong order would be seen."""
    import conform

    flat = conform.reduced(0, "float32", [conform.tile(rank, "float32") for rank in range(4)])
    pairs = [conform.reduced(0, "float32", [conform.tile(r, "float32") for r in two]) for two in ((0, 1), (2, 3))]
    assert (flat != conform.reduced(0, "float32", pairs)).any()
