# SPDX-License-Identifier: Apache-2.0
"""Runs torch's own distributed_test.py on back end hccl and prints what passed, by groups.

python tests/collective/torch_own.py [--only TEST …] [--ranks N] [--write]

torch_own.tsv holds the result of each test that is expected, with the back end for which hccl stands in it, the number
of ranks and, where it does not pass, the cause; the tests are held to it. --write renews it (causes of new failures are
left open: find them) and docs/torch_distributed.md. --ranks runs with another number than that of the file; differences
are only printed.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILE = HERE / "torch_own.tsv"
PAGE = HERE.parents[1] / "docs/torch_distributed.md"
AT_ONCE = 4
OPEN = "?"
FIELDS = ("test", "as", "ranks", "result", "cause")
GROUPS = {  # the first that fits a test's name
    "profiler, traces": "profil|trace",
    "send and receive": "send|recv",
    "objects": "object",
    "DDP: communication hooks": "hook|get_future",
    "DDP: uneven inputs, join": "uneven|join",
    "SyncBatchNorm": "SyncBatchNorm|sync_bn",
    "averaged models, post-local SGD": "averag|localSGD",
    "barrier": "barrier",
    "DDP": "ddp|DDP|DistributedDataParallel|no_sync|static_graph|unused|graph|logger|params",
    "coalescing": "coalesc",
    "broadcast": "broadcast|priority_stream",
    "all_gather": "all_?gather",
    "reduce_scatter": "reduce_scatter",
    "all_reduce": "all_?reduce",
    "reduce": "reduce",
    "all_to_all": "all_to_all",
    "scatter, gather": "scatter|gather",
    "groups, back end": "",
}


def group_of(test):
    return next(group for group, pattern in GROUPS.items() if re.search(pattern, test))


def expected():
    """{test: row} of the file."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    rows = [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in lines[1:]]
    return {row["test"]: row | {"ranks": int(row["ranks"])} for row in rows}


def run(rows, at_once=AT_ONCE, report=lambda outcome: None):
    """{test: outcome} of rows of the file; of none, the list of all names."""
    command = [sys.executable, str(HERE / "torch_own_ranks.py"), str(at_once)]
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    outcomes = {}
    with tempfile.TemporaryDirectory(prefix="torch_own_") as folder:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "ANYNPU_THREADS": "1", "TMPDIR": folder}
        with subprocess.Popen(command, **pipe, text=True, env=environment) as process:
            process.stdin.write(json.dumps([(row["test"], row["as"], row["ranks"]) for row in rows]))
            process.stdin.close()
            for line in process.stdout:
                if line.startswith('["'):
                    return json.loads(line)
                if line.startswith("{"):
                    outcome = json.loads(line)
                    outcomes[outcome["test"]] = outcome
                    report(outcome)
    return outcomes


def differences(outcomes, wanted):
    return {test for test in wanted if outcomes.get(test, {}).get("result") != wanted[test]["result"]}


def run_held(wanted, report=lambda outcome: None):
    """The outcomes of all rows. What differs runs once more, alone: torch's own limits, such as 10 s for all ranks to
    come to a barrier, are made for machines with a core for each rank."""
    outcomes = run(wanted.values(), report=report)
    again = differences(outcomes, wanted)
    if again:
        print("once more, alone:", *sorted(again))
        outcomes |= run([wanted[test] for test in sorted(again)], at_once=1, report=report)
    return outcomes


def table(rows):
    """Lines of a table: for each group how many passed, failed and were skipped."""
    lines = [("group", "passed", "failed", "skipped")]
    counted = [(group_of(row["test"]), row["result"]) for row in rows]
    for group in [*GROUPS, "all"]:
        results = [result for of, result in counted if group in (of, "all")]
        lines.append((group, *(str(results.count(result)) for result in lines[0][1:])))
    return lines


def printed(lines):
    return "\n".join(f"{group:34} {passed:>7} {failed:>7} {skipped:>8}" for group, passed, failed, skipped in lines)


def first_line_of(reason):
    """What a person wants to see of a failure: the exception's line."""
    lines = re.findall(r"^(?:\w+\.)*\w*(?:Error|Exception|Skip)\b.*", reason, re.M)
    return (lines or reason.strip().splitlines() or [""])[-1]


def renewed(outcomes, wanted):
    """Rows of all outcomes; a cause is kept as long as its result stays."""
    rows = []
    for test, outcome in sorted(outcomes.items()):
        old = wanted.get(test, {})
        result, reason = outcome["result"], outcome["reason"]
        kept = old["cause"] if old.get("result") == result else OPEN
        skipped = re.sub("^(?=https:)", "torch has switched it off: ", reason.split("\n")[0])
        cause = {"passed": "", "skipped": skipped, "failed": kept}[result]
        rows.append({**{field: outcome[field] for field in FIELDS[:-1]}, "cause": cause})
    return rows


def markdown(rows):
    def listed(result):
        causes = {}
        for row in rows:
            if row["result"] == result:
                causes.setdefault(row["cause"], []).append(row["test"].removeprefix("test_"))
        return [f"- {cause}: {', '.join(f'`{test}`' for test in tests)}" for cause, tests in sorted(causes.items())]

    head, *lines = [f"| {' | '.join(line)} |" for line in table(rows)]
    return [head, "|---|---|---|---|", *lines, "", "## Failures", "", *listed("failed"), "", "## Skipped", ""] + [
        "Reasons are torch's own, with the words replaced as above.",
        "",
        *listed("skipped"),
    ]


def write(rows):
    lines = ["\t".join(FIELDS), *("\t".join(str(row[field]) for field in FIELDS) for row in rows)]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    head = PAGE.read_text(encoding="utf-8").split("| group |")[0]
    PAGE.write_text(head + "\n".join(markdown(rows)) + "\n", encoding="utf-8")


def show(outcome):
    reason = "" if outcome["result"] == "passed" else first_line_of(outcome["reason"])
    line = f"{outcome['test']} ({outcome['ranks']} ranks, {outcome['seconds']} s): {outcome['result']} {reason}"
    print(line[:200], flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    wanted = expected()
    chosen = {test: dict(row) for test, row in wanted.items() if not arguments.only or test in arguments.only}
    for row in chosen.values():
        row["ranks"] = arguments.ranks or row["ranks"]
    outcomes = run_held(chosen, show)
    print(printed(table(outcomes.values())))
    print("differ from torch_own.tsv:", *sorted(differences(outcomes, chosen)))
    if arguments.write and not arguments.only and not arguments.ranks:
        write(renewed(outcomes, wanted))


if __name__ == "__main__":
    main()
