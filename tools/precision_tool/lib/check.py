# SPDX-License-Identifier: Apache-2.0
"""`ac`: all that can be seen without being asked: fusions, overflows, and with -c the whole run compared."""

from pathlib import Path

from . import compare, fusion, overflow
from .config import config as cfg
from .toolkit import say


def auto(with_comparison=False, most=None):
    shown = 3 if most is None else most
    if with_comparison:
        told(compare.summary(compare.vector_compare(), most=shown), "no operator differs")
    elif any(Path(cfg.VECTOR_COMPARE_PATH).glob("*/*.csv")):
        told(compare.summary(most=shown), "no operator differs")
    told(fusion.check(most), "no fusion took effect, or no fusion_result.json is there")
    told(overflow.check(most), f"no operator overflowed: {cfg.NPU_OVERFLOW_DUMP_DIR} holds no record")


def told(count, nothing):
    if count == 0:
        say("INFO", nothing)
