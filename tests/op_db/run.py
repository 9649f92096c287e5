# SPDX-License-Identifier: Apache-2.0
"""Runs op_db, module_db and optim_db of torch on device npu in worker processes; prints what passed per dtype.

python tests/op_db/run.py [--dtypes float32 float16 …] [--samples 3] [--only NAME …] [--write]

A worker that dies or hangs costs one name. --write renews docs/op_db.md, passing.txt, to which `make test` holds every
pair of a name and a dtype, and refused.tsv, the pairs that end in a refusal which explains itself: of a type that the
vendor's page of the function does not list, or of torch-npu's or torch's own, before it calls any function of the NPU.
causes.tsv says of every other pair why it fails, and by which error that is seen; a new failure stands in the page
without a cause until it has one there.
"""

import argparse
import csv
import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import threading
from collections import Counter

import page

HERE = pathlib.Path(__file__).resolve().parent
DTYPES = ["float32", "float16", "bfloat16", "float64", "complex64", "int64", "int32", "bool"]
LIMIT = 120  # seconds for one name
SAMPLES = 3  # of each name, for the lists
REFUSED = ["dtype", "name", "by", "why"]
# A call costs a line in the log, by which the worker tells what was called before a refusal.
LOGGED = {"ASCEND_SLOG_PRINT_TO_STDOUT": "1", "ASCEND_GLOBAL_LOG_LEVEL": "4", "ASCEND_MODULE_LOG_LEVEL": "OP=0"}
# What acl/types.tsv refuses, and nothing else, reads so.
UNDOCUMENTED = re.compile(r"\[(aclnn\w+)\] (\w+) is (\w+).*; it may be ", re.DOTALL)
# What follows of a result before it is no refusal.
CONSEQUENCE = re.compile(r"must match the size of tensor|Expected a proper Tensor")
NOTHING = "nothing"


class Worker:
    def __init__(self):
        command = [sys.executable, str(HERE / "worker.py")]
        # Without torch_npu's queue a failure is reported by the operator that failed; with it, later work is dropped.
        env = {**os.environ, **LOGGED, "TASK_QUEUE_ENABLE": "0"}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=env)
        self.lines = queue.Queue()
        self.errors = []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self):
        for line in self.process.stderr:
            self.errors = self.errors[-20:] + [line]

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def run(self, dtype, name, samples):
        """The outcome of one name."""
        self.process.stdin.write(f"{dtype} {name} {samples}\n")
        self.process.stdin.flush()
        while True:
            try:
                line = self.lines.get(timeout=LIMIT)
            except queue.Empty:
                self.process.kill()
                return {"ok": False, "error": f"no answer in {LIMIT} s", "fallback": False, "dead": True}
            if line is None:
                code = self.process.wait()
                tail = "".join(self.errors)[-300:]
                return {"ok": False, "error": f"process died ({code}): {tail}", "fallback": False, "dead": True}
            if line.startswith("{") and "end" in (record := json.loads(line)):
                return record

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def names_of(dtypes):
    """{dtype: names} of the databases."""
    command = [sys.executable, str(HERE / "worker.py"), "--names", *dtypes]
    listing = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(listing.stdout.splitlines()[-1])


def rows_of(name):
    with open(HERE / name, encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def causes():
    """The rows of causes.tsv: names and dtypes that fail as `error`, a pattern, says."""
    return [
        row | {"operators": row["operators"].split(), "dtypes": row["dtypes"].split()} for row in rows_of("causes.tsv")
    ]


def fits(row, error):
    return re.search(row["error"], error, re.DOTALL) is not None


def run_pairs(samples, workers=2):
    """Outcomes of `samples`: {(dtype, name): how many}."""
    todo = queue.Queue()
    for pair in samples:
        todo.put(pair)
    outcomes = {}

    def work():
        worker = None
        while True:
            try:
                pair = todo.get_nowait()
            except queue.Empty:
                break
            worker = worker or Worker()
            outcomes[pair] = worker.run(*pair, samples[pair])
            if outcomes[pair].get("dead"):
                worker = None
        if worker is not None:
            worker.end()

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return {pair: outcomes[pair] for pair in samples}


def first_sentence(error):
    text = error.partition(": ")[2].partition("\n")[0]
    return re.split(r"(?<=[a-z'])\. ", text)[0].strip().replace("\t", " ")[:160]


def refusal(outcome):
    """By whom, and why, when that explains itself; NOTHING where the CPU computes no sample; None for what failed."""
    if outcome["ok"]:
        return None if outcome["samples"] else (NOTHING, "the CPU computes none of the samples")
    by_type = UNDOCUMENTED.search(outcome["error"])
    if by_type:
        return by_type[1], f"{by_type[2]} is {by_type[3]}"
    if outcome.get("by") and not outcome["calls"] and not CONSEQUENCE.search(outcome["error"]):
        return outcome["by"], first_sentence(outcome["error"])
    return None


def fate(outcome):
    """One of page.FATES."""
    by = refusal(outcome)
    if by:
        return "empty" if by[0] == NOTHING else "undocumented" if by[0].startswith("aclnn") else "client"
    return ("fell" if outcome["fallback"] else "passed") if outcome["ok"] else "failed"


def told(counts):
    return f"{counts['passed'] + counts['fell']} passed ({counts['fell']} on the host), " + ", ".join(
        f"{counts[one]} {text}" for one, text in page.FATES.items() if one not in ("passed", "fell")
    )


def explained(outcomes):
    """[(cause, its pairs)] of what failed, in the order of causes.tsv; what has none comes last, one by one."""
    failed = {pair: o["error"] for pair, o in outcomes.items() if fate(o) == "failed"}
    rows = causes()
    known = [[k for k in failed if k[0] in r["dtypes"] and k[1] in r["operators"] and fits(r, failed[k])] for r in rows]
    found = [(row["cause"], keys) for row, keys in zip(rows, known, strict=True) if keys]
    return found + [(page.OPEN, [key]) for key in sorted(set(failed) - {k for keys in known for k in keys})]


def write(outcomes):
    refused = [dict(zip(REFUSED, (*pair, *by), strict=True)) for pair, o in outcomes.items() if (by := refusal(o))]
    refused.sort(key=lambda row: list(row.values()))
    lines = ["\t".join(REFUSED), *("\t".join(row.values()) for row in refused)]
    (HERE / "refused.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    passing = sorted(f"{d} {n}" for (d, n), o in outcomes.items() if fate(o) in ("passed", "fell"))
    (HERE / "passing.txt").write_text("\n".join(passing) + "\n", encoding="utf-8")
    fates = {pair: fate(o) for pair, o in outcomes.items()}
    page.write(fates, refused, explained(outcomes), SAMPLES)


def show(outcomes, dtype):
    of_dtype = {n: o for (d, n), o in outcomes.items() if d == dtype}
    for name in sorted(n for n, o in of_dtype.items() if fate(o) == "failed"):
        print(f"  {dtype} {name}: {of_dtype[name]['error'].splitlines()[0][:160]}")
    print(f"{dtype}: {told(Counter(fate(o) for o in of_dtype.values()))}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtypes", nargs="+", default=DTYPES)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", help="write every outcome to this file")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    outcomes = {}
    for dtype, names in names_of(args.dtypes).items():
        outcomes |= run_pairs(
            {(dtype, n): args.samples for n in names if not args.only or n in args.only}, args.workers
        )
        show(outcomes, dtype)
    print(page.shares(Counter(map(fate, outcomes.values())), page.of_the_plug_in(explained(outcomes))))
    if args.json:
        nested = {d: {n: o for (e, n), o in outcomes.items() if e == d} for d in args.dtypes}
        pathlib.Path(args.json).write_text(json.dumps(nested, indent=1), encoding="utf-8")
    if args.write:
        write(outcomes)


if __name__ == "__main__":
    main()
