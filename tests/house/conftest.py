# SPDX-License-Identifier: Apache-2.0
"""The house rules look at the checkout: its sources, and the library it has just built."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "docs"), str(Path(__file__).parent)]
if (ROOT / "build/lib/libanynpu.so").exists():
    os.environ["ANYNPU_LIBRARY"] = str(ROOT / "build/lib/libanynpu.so")


def pytest_terminal_summary(terminalreporter):
    import budget

    terminalreporter.section("budgets (house.md's figures in brackets; only the arrows and 1,000 lines fail)")
    for line in budget.report():
        terminalreporter.write_line(line)
