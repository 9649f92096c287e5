# SPDX-License-Identifier: Apache-2.0
"""What a data dump costs a training step: statistics as a factor of the step without a dump, tensors as a share of the
rate at which plain files of the same size are written. Off, on and off again alternate in one process.

python tests/bench/dump_bench.py [--pairs 9]
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))
import models  # noqa: E402

STEPS = 4  # of one dump of statistics; a user dumps a few


def training_step():
    torch.manual_seed(0)
    model = models.ResNet18().npu()
    x, y = torch.randn(8, 3, 128, 128).npu(), torch.randint(0, 10, (8,)).npu()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        torch.npu.synchronize()

    return step


def seconds(step, count=1):
    start = time.perf_counter()
    for _ in range(count):
        step()
    return (time.perf_counter() - start) / count


def dumped(step, folder, data, count=1):
    """Seconds of each of `count` steps with a dump, and of all until the dump is written; its bytes."""
    path = pathlib.Path(tempfile.mkdtemp(dir=folder))
    words = {"dump_path": str(path), "dump_op_switch": "on", "dump_data": data, "dump_mode": "output"}
    file = pathlib.Path(folder, "dump.json")
    file.write_text(json.dumps({"dump": words}))
    torch.npu.init_dump()
    torch.npu.set_dump(str(file))
    start = time.perf_counter()
    taken = seconds(step, count)
    torch.npu.finalize_dump()
    whole = time.perf_counter() - start
    return taken, whole, emptied(path)


def emptied(folder):
    """Bytes of the files in `folder`, which are given up. The files stay to the end: where inodes were freed in the
    last minutes ext4 may take twenty times as long to make a file, which no dump of a user meets."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    for path in files:
        os.truncate(path, 0)
    return size


def plain_files(folder, size, count):
    """Bytes a second that `count` files of `size` bytes in all are written with."""
    part = os.urandom(1 << 20) * max(1, size // count >> 20)
    path = pathlib.Path(tempfile.mkdtemp(dir=folder))
    start = time.perf_counter()
    for i in range(count):
        (path / f"plain{i}").write_bytes(part)
    taken = time.perf_counter() - start
    emptied(path)
    return len(part) * count / taken


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=9)
    args = parser.parse_args()
    step = training_step()
    for _ in range(3):
        step()
    with tempfile.TemporaryDirectory() as folder:
        factors, shares = [], []
        for _ in range(args.pairs):
            before = seconds(step, STEPS)
            taken, _, _ = dumped(step, folder, "stats", STEPS)
            factors.append(2 * taken / (before + seconds(step, STEPS)))
            off = seconds(step)
            _, whole, size = dumped(step, folder, "tensor")
            extra = whole - min(off, seconds(step))  # both cores compute, so writing takes its time from the step's
            shares.append(size / extra / plain_files(folder, size, 100))
    print(f"ResNet-18 step with a dump of statistics: {quartiles(factors)}x the step without (target: at most 1.10x)")
    print(f"ResNet-18 step with a dump of tensors ({size / 1e6:.0f} MB): {quartiles(shares)} of the rate of plain "
          "files (target: at least 0.70)")  # fmt: skip


if __name__ == "__main__":
    main()
