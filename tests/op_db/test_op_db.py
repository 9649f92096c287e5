# SPDX-License-Identifier: Apache-2.0
"""Operators of torch's op_db that once passed keep passing (the full run is `python tests/op_db/run.py`)."""

import pathlib

import pytest
import run

HERE = pathlib.Path(__file__).resolve().parent
LINES = [line.split(" ", 1) for line in (HERE / "passing.txt").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("dtype", sorted({d for d, _ in LINES}))
def test_operators_keep_passing(dtype):
    names = {n for d, n in LINES if d == dtype}
    outcomes = run.run_dtype(dtype, 2, names, workers=2)
    own, fell, failed = run.summary(outcomes)
    print(f"{dtype}: {own + fell} passed, {failed} failed, {fell} fell back")
    assert {n: o["error"] for n, o in outcomes.items() if not o["ok"]} == {}
    assert set(outcomes) == names
