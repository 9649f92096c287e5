# SPDX-License-Identifier: Apache-2.0
"""What tuning gains: steps of models before and after, in alternating pairs.

Each case is tuned in a process of its own, operators first, then graphs, into banks of this run. Two processes then
train it, one with these banks and one without any, in turn; above 1 the tuned one is faster.

python tests/bench/tuning_bench.py [--pairs 15] [--only WORD] [--show]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = {
    "torch": ("ResNet-18", "encoder", "LSTM"),
    "tensorflow": ("ResNet-18 step", "encoder step", "LSTM step"),
}
JOBS = {"torch": ("2",), "tensorflow": ("2", "1")}
LEAST_SECONDS = 0.3  # of one timing
SETTLED = 5  # steps before the first one that counts


def torch_step(name):
    import torch
    import torch_bench

    found = next(one for one in torch_bench.STEPS if one[0] == name)
    make, _ = torch_bench.step(found[1], found[2], False, False)
    step = make("npu")

    def run():
        step()
        torch.npu.synchronize()

    return run


def tensorflow_step(name):
    import npu_device
    import tensorflow as tf
    import tensorflow_bench

    npu_device.open()
    with tf.device("/device:NPU:0"):
        return dict(tensorflow_bench.cases())[name]()


def work(framework, name):
    """Trains so many steps as each line of the input says, and prints the seconds they took."""
    step = {"torch": torch_step, "tensorflow": tensorflow_step}[framework](name)
    for _ in range(SETTLED):
        step()
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        for _ in range(int(line)):
            step()
        print(time.perf_counter() - start, flush=True)


class Worker:
    def __init__(self, framework, name, bank, mode=""):
        words = [sys.executable, __file__, "--worker", framework, name]
        variables = {**os.environ, "TUNE_BANK_PATH": str(bank), "AOE_MODE": mode}
        self.child = subprocess.Popen(words, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = []
        while not (line := self.child.stdout.readline()).startswith("ready"):
            if not line:
                raise SystemExit(f"the worker for {framework} {name} ended with code {self.child.wait()}")
            self.lines.append(line)

    def seconds(self, steps):
        print(steps, file=self.child.stdin, flush=True)
        while (line := self.child.stdout.readline()).startswith("["):
            self.lines.append(line)
        return float(line)

    def end(self):
        rest, _ = self.child.communicate()
        return [line.strip() for line in [*self.lines, *rest.splitlines()] if line.startswith("[Aoe]")]


def tune(framework, name, bank):
    """The choices that won."""
    won = []
    for mode in JOBS[framework]:
        won += [line for line in Worker(framework, name, bank, mode).end() if " instead of " in line]
    return won


def compare(framework, name, bank, pairs):
    with tempfile.TemporaryDirectory() as none:
        before, after = Worker(framework, name, none), Worker(framework, name, bank)
        steps = max(1, round(LEAST_SECONDS / before.seconds(3) * 3))
        taken = []
        for i in range(pairs):
            both = {}
            for worker in (before, after) if i % 2 == 0 else (after, before):
                both[worker] = worker.seconds(steps) / steps
            taken.append((both[before], both[after]))
        before.end(), after.end()
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true", help="what was chosen")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(*options.worker)
    for framework, names in CASES.items():
        for name in names:
            if options.only not in f"{framework} {name}":
                continue
            with tempfile.TemporaryDirectory() as folder:
                start = time.perf_counter()
                os.chdir(folder)
                won = tune(framework, name, Path(folder))
                seconds = time.perf_counter() - start
                taken = compare(framework, name, Path(folder), options.pairs)
            low, middle, high = statistics.quantiles([b / a for b, a in taken], n=4)
            print(f"{framework + ' ' + name:28s} {middle:5.2f}x [{low:.2f}, {high:.2f}]  "
                  f"{statistics.median(b for b, _ in taken) * 1e3:8.2f} ms before, tuned in {seconds:.0f} s, "
                  f"{len(won)} choices", flush=True)  # fmt: skip
            if options.show:
                print("\n".join(won))
    return 0


if __name__ == "__main__":
    sys.exit(main())
