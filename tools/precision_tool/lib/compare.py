# SPDX-License-Identifier: Apache-2.0
"""`vc` and `vcs`: whole runs compared by msaccucmp, and the operators that differ, in the order in which they run."""

import csv
import datetime
import os
import re
import tempfile
from pathlib import Path

from . import dump, graph
from .config import config as cfg
from .toolkit import PrecisionError, run, say

NO_FILE = 2  # msaccucmp has compared, and some operator had no file on one side
LEFT, RIGHT = ("NPUDump", "LeftOp"), ("GroundTruth", "RightOp")  # of today, and of older packages


def new_folder():
    """A folder of this moment for results."""
    folder = Path(cfg.VECTOR_COMPARE_PATH, f"{datetime.datetime.now():%Y%m%d%H%M%S}")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def compare(left, right, folder, *rule):
    """The result of one comparison, result_*.csv in `folder`: a second one within a second has a number behind."""
    for path in (left, right):
        if not Path(path).is_dir():
            raise PrecisionError(
                f"{path} is no folder of a dump; name that of a step, …/dump/TIME/DEVICE/GRAPH/ID/STEP"
            )
    with tempfile.TemporaryDirectory(dir=folder) as made:
        run("msaccucmp.py", "compare", "-m", left, "-g", right, *rule, "-out", made, allowed=(0, NO_FILE))
        results = sorted(Path(made).glob("result_*.csv"))
        if not results:
            raise PrecisionError(f"{left} and {right} have no operator in common")
        target, count = folder / results[0].name, 0
        while target.exists():
            count += 1
            target = folder / f"{results[0].stem}_{count}.csv"
        os.replace(results[0], target)
    say("INFO", f"Compared {left} with {right}: {target}")
    return target


def vector_compare(left=None, right=None, of_graph=None):
    """`vc`: two folders; without them the run's dump with the golden, and with the run before."""
    if left is None and right is None:
        folder = new_folder()
        compare_with_golden(folder)
        compare_runs(folder)
        if not any(folder.glob("result_*.csv")):
            folder.rmdir()
            raise PrecisionError(
                f"there is nothing to compare {cfg.DEFAULT_NPU_DUMP_DIR} with; put the golden's arrays into "
                f"{cfg.TF_DUMP_DIR}, or another run's dump into {cfg.NPU_DIR}/{dump.RUNS[1]}"
            )
        return folder
    if left is None or right is None:
        raise PrecisionError("vc takes both -lt and -rt, or none of them")
    folder = new_folder()
    compare(left, right, folder, *rule_of(of_graph))
    return folder


def rule_of(of_graph):
    """The graph that tells what belongs together: a file, or the name of one of the run's graphs."""
    if of_graph is None:
        return ()
    if Path(of_graph).is_file():
        return "-f", of_graph
    known = graph.graphs(dump.RUNS[0])
    if of_graph not in known:
        raise PrecisionError(f"-g {of_graph} is neither a file nor a graph of {', '.join(known) or 'the run'}")
    return "-f", known[of_graph].fusion_file


def compare_with_golden(folder):
    """Each graph of the run whose operators the golden has, at its first step."""
    if not any(Path(cfg.TF_DUMP_DIR).glob("*.npy")):
        return
    for name, folders in dump.steps(dump.RUNS[0]).items():
        known = {dump.spelled(n): one for n, one in graph.graphs(dump.RUNS[0]).items()}
        one = known.get(name)
        if one is None:
            say("WARNING", f"{folders[0]} has no graph of its name in {cfg.DEFAULT_NPU_GRAPH_DIR}; it is not compared")
        elif any(dump.golden(n) for op in one.operators for n in (op.originals or [op.name])):
            compare(folders[0], cfg.TF_DUMP_DIR, folder, "-f", one.fusion_file)


def compare_runs(folder):
    """Each graph of the run with the same one of the run before, step by step; names may differ in their number."""
    mine, theirs = (dump.steps(name) for name in dump.RUNS)
    for name, folders in mine.items():
        others = theirs.get(name) or next((f for n, f in theirs.items() if unnumbered(n) == unnumbered(name)), [])
        by_step = {step.name: step for step in others}
        for step in folders:
            if step.name in by_step:
                compare(step, by_step[step.name], folder)


def unnumbered(name):
    return name.rstrip("0123456789")


class Row:
    """One operator of a result: the cosines of its tensors, as they were written."""

    def __init__(self, index, left, right):
        self.index, self.left, self.right = index, left, right
        self.sides = {"input": [], "output": []}

    def add(self, side, number, cosine):
        self.sides[side].append((number, cosine))

    def is_below(self, limit):
        return any(below(cosine, limit) for side in self.sides.values() for _, cosine in side)


def below(cosine, limit):
    """NaN in lower case is a number that came out; in upper case there was nothing to compute."""
    if cosine in ("NaN", "*", ""):
        return False
    return not float(cosine) >= limit


def read(path):
    """The operators of a result in its order, which is that of their running."""
    rows = {}
    with open(path, newline="") as file:
        for line in csv.DictReader(file):
            left, right = (next((line[name] for name in names if name in line), "") for names in (LEFT, RIGHT))
            side, _, number = line.get("TensorIndex", "").rpartition(":")
            side = side.rpartition(":")[2]
            if side not in ("input", "output") or "CosineSimilarity" not in line:
                continue
            row = rows.setdefault((line["Index"], left), Row(line["Index"], left, right))
            row.add(side, number, line["CosineSimilarity"])
    return list(rows.values())


def results(named):
    """The files of `vcs -f`, else those of the newest folder."""
    path = Path(named) if named else None
    if path is None:
        folders = sorted(p for p in Path(cfg.VECTOR_COMPARE_PATH).glob("*") if p.is_dir())
        if not folders:
            raise PrecisionError(f"{cfg.VECTOR_COMPARE_PATH} holds no result; vc or ac -c makes one")
        path = folders[-1]
        say("INFO", f"Sub path num:[{len(folders)}]. Dirs[{[f.name for f in folders]}], choose[{path.name}]")
    if path.is_dir():
        return sorted(path.glob("*.csv"))
    if not path.is_file():
        raise PrecisionError(f"-f {path} is neither a result nor a folder of some")
    return [path]


def summary(named=None, limit=0.98, most=3):
    """`vcs`: the first operators of each result with a cosine below the limit. Gives how many there are."""
    count = 0
    for path in results(named):
        wrong = [row for row in read(path) if row.is_below(limit)]
        say("INFO", f"Find {len(wrong)} ops less then {limit} in {path}")
        for row in wrong[:most]:
            show(row)
        count += len(wrong)
    return count


def show(row):
    print(f"      [{row.index}] {row.left}")
    print(f"  Left: {re.split('[ ,]', row.left)}\n  Right: {re.split('[ ,]', row.right)}")
    for title, side in (("Input", "input"), ("Output", "output")):
        print(f"  {title}:")
        print("   " + "\t".join(f"- [{number}]{cosine}" for number, cosine in row.sides[side]))
