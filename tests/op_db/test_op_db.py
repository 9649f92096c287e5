# SPDX-License-Identifier: Apache-2.0
"""Operators of torch's op_db that once passed keep passing, and of all others causes.tsv says why they fail (the full
run is `python tests/op_db/run.py`)."""

import pathlib

import pytest
import run

HERE = pathlib.Path(__file__).resolve().parent
LINES = [line.split(" ", 1) for line in (HERE / "passing.txt").read_text(encoding="utf-8").splitlines()]
FAILING = [(d, n, row) for row in run.causes() for d in row["dtypes"] for n in row["operators"]]


@pytest.fixture(scope="module", params=run.DTYPES)
def ran(request):
    """A dtype, and what became of the operators of both lists."""
    dtype = request.param
    samples = {n: run.SAMPLES for d, n, _ in FAILING if d == dtype} | {n: 2 for d, n in LINES if d == dtype}
    return dtype, run.run_dtype(dtype, samples, workers=2)


def test_operators_keep_passing(ran):
    dtype, outcomes = ran
    kept = {n: outcomes[n] for d, n in LINES if d == dtype}
    own, fell, failed = run.summary(kept)
    print(f"{dtype}: {own + fell} passed, {failed} failed, {fell} fell back")
    assert {n: o["error"] for n, o in kept.items() if not o["ok"]} == {}


def test_failures_are_those_of_their_causes(ran):
    """Also what fails must go on to fail, and in the same way: a failure that passes is news for both lists."""
    dtype, outcomes = ran
    rows = {n: row for d, n, row in FAILING if d == dtype}
    assert {n for n in rows if outcomes[n]["ok"]} == set()
    assert {n: outcomes[n]["error"] for n, row in rows.items() if not run.fits(row, outcomes[n]["error"])} == {}


def test_every_operator_passes_or_has_its_cause():
    """Every name of the database stands in one of the two lists, once, and neither has another."""
    there = [(d, n) for d, names in run.names_of(run.DTYPES).items() for n in names]
    assert sorted([(d, n) for d, n in LINES] + [(d, n) for d, n, _ in FAILING]) == sorted(there)


def test_the_page_tells_the_causes():
    told = (HERE.parents[1] / "docs/op_db.md").read_text(encoding="utf-8").partition(run.HEAD)[2].splitlines()[2:]
    assert told == [
        f"| {', '.join(f'`{n}`' for n in sorted(row['operators']))} | {', '.join(row['dtypes'])} | {row['cause']} |"
        for row in run.causes()
    ]
