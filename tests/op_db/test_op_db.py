# SPDX-License-Identifier: Apache-2.0
"""What once passed of torch's own databases keeps passing, what is refused goes on to be refused by the same, and
causes.tsv says of all others why they fail (the full run is `python tests/op_db/run.py`)."""

import pathlib
import zlib

import page
import pytest
import run

HERE = pathlib.Path(__file__).resolve().parent
PASSING = [tuple(line.split(" ", 1)) for line in (HERE / "passing.txt").read_text(encoding="utf-8").splitlines()]
REFUSED = {(row["dtype"], row["name"]): row for row in run.rows_of("refused.tsv")}
FAILING = {(d, n): row for row in run.causes() for d in row["dtypes"] for n in row["operators"]}


def of_a_sample(pair):
    """One in four, the same ones every time."""
    return zlib.crc32(" ".join(pair).encode()) % 4 == 0


@pytest.fixture(scope="module")
def outcomes():
    samples = dict.fromkeys(PASSING, 1) | dict.fromkeys(FAILING, run.SAMPLES)
    return run.run_pairs(samples | dict.fromkeys(filter(of_a_sample, REFUSED), run.SAMPLES))


@pytest.mark.parametrize("dtype", run.DTYPES)
def test_what_passed_keeps_passing(outcomes, dtype):
    kept = {pair: outcomes[pair] for pair in PASSING if pair[0] == dtype}
    assert {n: o["error"] for (_, n), o in kept.items() if not o["ok"]} == {}
    assert sum(o["samples"] for o in kept.values()) >= 0.95 * len(kept) > 0


def test_failures_are_those_of_their_causes(outcomes):
    """Also what fails must go on to fail, and in the same way: a failure that passes is news for the lists."""
    assert {pair for pair in FAILING if outcomes[pair]["ok"]} == set()
    errors = {pair: outcomes[pair]["error"] for pair in FAILING}
    assert {pair: e for pair, e in errors.items() if not run.fits(FAILING[pair], e)} == {}


def test_refusals_are_of_whom_the_list_names(outcomes):
    told = {pair: REFUSED[pair]["by"] for pair in filter(of_a_sample, REFUSED)}
    assert {pair: (run.refusal(outcomes[pair]) or ("nobody",))[0] for pair in told} == told


def test_every_name_stands_in_one_list():
    """Once, and none has another."""
    there = [(d, n) for d, names in run.names_of(run.DTYPES).items() for n in names]
    assert sorted([*PASSING, *REFUSED, *FAILING]) == sorted(there)


def test_nearly_all_pass_that_are_not_refused():
    ours = [pair for pair, row in FAILING.items() if not row["cause"].startswith(page.PLUG_IN)]
    assert len(PASSING) >= 0.984 * (len(PASSING) + len(FAILING))
    assert len(PASSING) >= 0.998 * (len(PASSING) + len(ours))


def test_the_page_tells_the_causes_and_the_refusals():
    told = (HERE.parents[1] / "docs/op_db.md").read_text(encoding="utf-8").splitlines()
    rows = [*page.undocumented(REFUSED.values()), *page.clients(REFUSED.values())]
    rows += [page.cause_line(r["cause"], [(d, n) for d in r["dtypes"] for n in r["operators"]]) for r in run.causes()]
    assert [row for row in rows if row not in told] == []


def test_every_function_that_refuses_has_its_page():
    functions = {row["by"] for row in REFUSED.values() if row["by"].startswith("aclnn")}
    assert functions - set(page.documents()) == set()
