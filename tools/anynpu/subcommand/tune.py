# SPDX-License-Identifier: Apache-2.0
"""Runs a Python script with tuning, as AOE_MODE does: kernels, then what fusion makes of graphs, are measured in all
their ways when the script meets them for the first time, and what wins is kept in a bank that later runs use without
asking. `anynpu tune bank` shows the banks, and `anynpu tune bank list|verify|merge|diff` works on them. Everything
after the script's name belongs to the script. (docs/tuning.md tells more.)"""

import json
import os
import subprocess
import sys
from argparse import REMAINDER
from pathlib import Path

from anynpu.library import door
from anynpu.output import table
from anynpu.subcommand import run

JOBS = {"operators": 2, "graphs": 1}
ORDER = {"both": ("operators", "graphs"), "operators": ("operators",), "graphs": ("graphs",)}
BANK_WORDS = "list [BANK…], verify [BANK…], merge INTO FROM…, diff LEFT RIGHT"


def add_arguments(parser):
    parser.add_argument("--job", choices=ORDER, default="both", help="what is tuned, in a run of its own each")
    parser.add_argument("--no-transfer", action="store_true", help="do not send CUDA calls to the NPU")
    parser.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module")
    parser.add_argument("script", metavar="SCRIPT", help="the Python script to run; or bank")
    parser.add_argument("arguments", metavar="…", nargs=REMAINDER, help=f"its arguments; of bank: {BANK_WORDS}")


def execute(options):
    if options.script == "bank":
        return bank(options.arguments)
    if not options.module and not Path(options.script).is_file():
        raise FileNotFoundError(f"there is no file {options.script}; give the path of a Python script")
    run.check_frameworks()
    target = ["-m", options.script] if options.module else [options.script]
    for job in ORDER[options.job]:
        print(f"anynpu tune: {job}", flush=True)
        variables = {**os.environ, **run.environment(not options.no_transfer), "AOE_MODE": str(JOBS[job])}
        code = subprocess.run([sys.executable, *target, *options.arguments], env=variables).returncode
        if code:
            return code if code > 0 else 128 - code
    return 0


def own_banks():
    """Those of this machine that are there."""
    return [file for file in (door.bank_file(job) for job in JOBS.values()) if Path(file).is_file()]


def where(words):
    takes(words, 0, 0)
    for name, job in JOBS.items():
        file = door.bank_file(job)
        print(f"{name}: {file}" + ("" if Path(file).is_file() else " (not there yet)"))
    for point in door.tuned():
        print(f"  {point.name}: {point.purpose} {point.ways.replace(',', ', ')}")
    return 0


def show(words):
    for file in words or own_banks():
        entries = [json.loads(one) for one in door.bank_entries(file)]
        rows = [[e["point"], e["way"] if e["won"] else f"{e['usual']} (usual)", f"{e['usual_us']:.1f}",
                 f"{e['way_us']:.1f}", f"{e['ratio']:.2f}", e.get("note", ""), e["key"]] for e in entries]  # fmt: skip
        print(f"{file}: {len(entries)} entries, {sum(e['won'] for e in entries)} of which are used")
        print(table.columns(["choice", "way", "usual us", "way us", "ratio", "met in", "for"], rows))
    return 0


def verify(words):
    found = [f"{file}: {finding}" for file in words or own_banks() for finding in door.bank_findings(file)]
    print("\n".join(found) if found else "nothing wrong")
    return 1 if found else 0


def merge(words):
    takes(words, 2)
    into, *sources = words
    for source in sources:
        print(f"{source}: {door.bank_merge(into, source)} entries went into {into}")
    return 0


def differences(words):
    takes(words, 2, 2)
    found = door.bank_differences(*words)
    print("\n".join(found) if found else "both answer alike")
    return 1 if found else 0


def takes(words, least, most=None):
    if len(words) < least or (most is not None and len(words) > most):
        raise ValueError(f"{len(words)} arguments are given; write one of: bank, bank {BANK_WORDS}")


WORDS = {"list": show, "verify": verify, "merge": merge, "diff": differences}


def bank(words):
    if words and words[0] not in WORDS:
        raise ValueError(f"there is no 'bank {words[0]}'; write one of: bank, bank {BANK_WORDS}")
    return WORDS[words[0]](words[1:]) if words else where(words)
