# SPDX-License-Identifier: Apache-2.0
"""The house rules, and the budgets they print."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "docs"), str(ROOT / "acl/generate")]


def pytest_terminal_summary(terminalreporter):
    import budget
    import structure

    terminalreporter.section("the map inside")
    for line in structure.report():
        terminalreporter.write_line(line)
    terminalreporter.section("budgets (house.md's figures in brackets; only the arrows and 1,000 lines fail)")
    for line in budget.report():
        terminalreporter.write_line(line)
