# SPDX-License-Identifier: Apache-2.0
"""Runs op_db on device npu in worker processes and prints `N passed, N failed` per dtype.

python tests/op_db/run.py [--dtypes float32 float16 …] [--samples 3] [--only NAME …] [--write]

A worker that dies or hangs costs one operator. --write renews docs/op_db.md and tests/op_db/passing.txt, the list that
`make test` holds operators to. causes.tsv says of every other operator why it fails, and by which error that is seen; a
new failure stands in the page without a cause until it has one there.
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

HERE = pathlib.Path(__file__).resolve().parent
DTYPES = ["float32", "float16", "bfloat16", "int64", "int32", "bool"]
LIMIT = 120  # seconds for one operator
SAMPLES = 3  # of each operator, for the lists
HEAD = "| operators | dtypes | cause |"
OPEN = "?"


class Worker:
    def __init__(self, dtype):
        command = [sys.executable, str(HERE / "worker.py"), "--dtype", dtype]
        # Without torch_npu's queue a failure is reported by the operator that failed; with it, later work is dropped.
        env = {**os.environ, "TASK_QUEUE_ENABLE": "0"}
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

    def run(self, name, samples):
        """The outcome of one operator; None when the worker died or hung."""
        self.process.stdin.write(f"{name} {samples}\n")
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


def names_of(dtypes):
    """{dtype: names} of the database."""
    command = [sys.executable, str(HERE / "worker.py"), "--names", *dtypes]
    listing = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(listing.stdout.splitlines()[-1])


def causes():
    """The rows of causes.tsv: names and dtypes that fail as `error`, a pattern, says."""
    with open(HERE / "causes.tsv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row | {"operators": row["operators"].split(), "dtypes": row["dtypes"].split()} for row in rows]


def fits(row, error):
    return re.search(row["error"], error, re.DOTALL) is not None


def run_dtype(dtype, samples, workers):
    """Outcomes by name, of `samples`: {name: how many}."""
    todo = queue.Queue()
    for name in samples:
        todo.put(name)
    outcomes = {}

    def work():
        worker = None
        while True:
            try:
                name = todo.get_nowait()
            except queue.Empty:
                break
            worker = worker or Worker(dtype)
            outcomes[name] = worker.run(name, samples[name])
            if outcomes[name].get("dead"):
                worker = None
        if worker is not None:
            worker.process.stdin.close()
            worker.process.wait()

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return outcomes


def summary(outcomes):
    passed = [n for n, o in outcomes.items() if o["ok"]]
    fell = [n for n in passed if outcomes[n]["fallback"]]
    return len(passed) - len(fell), len(fell), len(outcomes) - len(passed)


def failures(everything):
    """The lines of a table of what failed, by causes; what has none comes last."""
    failed = {(d, n): o["error"] for d, outcomes in everything.items() for n, o in outcomes.items() if not o["ok"]}
    rows = causes()
    known = [[k for k in failed if k[0] in r["dtypes"] and k[1] in r["operators"] and fits(r, failed[k])] for r in rows]
    for key in sorted(set(failed) - {k for keys in known for k in keys}):
        rows.append({"cause": OPEN})
        known.append([key])
    lines = [HEAD, "|---|---|---|"]
    for row, keys in zip(rows, known, strict=True):
        if keys:
            names = ", ".join(f"`{n}`" for n in sorted({n for _, n in keys}))
            lines.append(f"| {names} | {', '.join(dict.fromkeys(d for d, _ in keys))} | {row['cause']} |")
    return lines


def write(everything, samples):
    lines = [
        "# torch's operator database on the NPU",
        "",
        "Generated by `python tests/op_db/run.py --write`. Each operator of PyTorch's `op_db` runs its own samples",
        f"(up to {samples} an operator and dtype, forward and backward) on device `npu` against the CPU.",
        "*fell back*: right, but the vendor's plug-in ran it on the host because it has no NPU kernel for it.",
        "",
        "| dtype | passed on the NPU | fell back to the host | failed |",
        "|---|---|---|---|",
    ]
    for dtype, outcomes in everything.items():
        own, fell, failed = summary(outcomes)
        lines.append(f"| {dtype} | {own} | {fell} | {failed} |")
    lines += [
        "",
        "## Failures",
        "",
        "Causes stand in `tests/op_db/causes.tsv`, with the error by which each is known; tests hold failures to them.",
        "",
    ]
    lines += failures(everything)
    (HERE.parents[1] / "docs/op_db.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    passing = sorted(f"{d} {n}" for d, o in everything.items() for n in o if o[n]["ok"])
    (HERE / "passing.txt").write_text("\n".join(passing) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtypes", nargs="+", default=DTYPES)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", help="write every outcome to this file")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    everything = {}
    for dtype, names in names_of(args.dtypes).items():
        names = [n for n in names if not args.only or n in args.only]
        everything[dtype] = outcomes = run_dtype(dtype, dict.fromkeys(names, args.samples), args.workers)
        for name in sorted(outcomes):
            if not outcomes[name]["ok"]:
                print(f"  {dtype} {name}: {outcomes[name]['error'].splitlines()[0][:160]}")
        own, fell, failed = summary(outcomes)
        print(f"{dtype}: {own + fell} passed, {failed} failed ({fell} of the passed fell back to the host)", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(everything, indent=1), encoding="utf-8")
    if args.write:
        write(everything, args.samples)


if __name__ == "__main__":
    main()
