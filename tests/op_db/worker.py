# SPDX-License-Identifier: Apache-2.0
"""Runs what torch tests itself with on device npu against the CPU: operators, modules and optimizers of its databases.

A line of stdin has a dtype, a name and how many of its samples run. Prints one JSON line before and after each runs, so
that a crash is blamed on the right one. Of a failure it tells the operator of torch that raised it, and which functions
of the NPU's library that operator had called: the log has a line for each call.
"""

import argparse
import json
import os
import re
import sys
import tempfile

import comparison
import modules
import operators
import optimizers
import torch
from anynpu.fallback.count import Counts
from anynpu.fallback.observer import Observer

CALLED = re.compile(rb"^\[DEBUG\] OP\(.*: called (\w+)$", re.MULTILINE)


def cases(dtype):
    return operators.cases(dtype) | modules.cases(dtype) | optimizers.cases(dtype)


class Written:
    """What is written to a file descriptor of this process from now on."""

    def __init__(self, descriptor):
        self.file, path = tempfile.mkstemp(prefix="op_db_")
        os.unlink(path)
        os.dup2(self.file, descriptor)

    def clear(self):
        os.ftruncate(self.file, 0)
        os.lseek(self.file, 0, os.SEEK_SET)

    def text(self, start=0):
        return os.pread(self.file, 1 << 22, start)

    def size(self):
        return os.fstat(self.file).st_size


class LastOperator(Observer):
    """The operator that torch called last, also inside of others, and where the log stood before it: also an error that
    follows it, as of its gradient, is one after the functions that it called."""

    def __init__(self, log):
        super().__init__(Counts(), strict=False)
        self.log, self.name, self.start = log, None, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "profiler":  # also called while an error passes
            return func(*args, **(kwargs or {}))
        self.name, self.start = str(func), self.log.size()
        return super().__torch_dispatch__(func, types, args, kwargs)


def refusal(sample, log):
    """Which operator of torch raises, and the functions of the NPU that it had called."""
    last = LastOperator(log)
    try:
        with last:
            sample(comparison.npu)
    except Exception:
        return {"by": last.name, "calls": [c.decode() for c in CALLED.findall(log.text(last.start))]}
    return {}


def run(case, dtype, count, log):
    done = 0
    for sample in case():
        if done == count:
            break
        try:
            want = sample(comparison.here)
        except Exception:
            continue  # the CPU refuses this sample itself
        try:
            comparison.check(sample, want, dtype)
        except Exception as error:  # any failure is a result here
            text = f"{type(error).__name__}: {str(error)[:400]}"
            return {"ok": False, "error": text, **({} if isinstance(error, AssertionError) else refusal(sample, log))}
        done += 1
    return {"ok": True, "samples": done}


def serve():
    replies = os.fdopen(os.dup(1), "w")
    # The vendor's plug-in tells of a fallback in C++ on stderr only; the log of the NPU's library is on stdout.
    messages, log = Written(2), Written(1)
    torch.set_warn_always(True)
    known = {}
    for line in sys.stdin:
        type_name, name, count = line.split()
        print(json.dumps({"start": name}), file=replies, flush=True)
        dtype = getattr(torch, type_name)
        known[type_name] = known.get(type_name) or cases(dtype)
        messages.clear()
        log.clear()
        torch.manual_seed(0)  # the same samples whatever ran before
        outcome = run(known[type_name][name], dtype, int(count), log)
        outcome["fallback"] = b"fall back to run on the CPU" in messages.text()
        print(json.dumps({"end": name, **outcome}), file=replies, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--names", nargs="+", help="print the names of these dtypes and stop")
    args = parser.parse_args()
    if args.names:
        print(json.dumps({name: sorted(cases(getattr(torch, name))) for name in args.names}))
    else:
        serve()


if __name__ == "__main__":
    main()
