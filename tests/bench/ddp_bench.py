# SPDX-License-Identifier: Apache-2.0
"""What DistributedDataParallel's sums of gradients cost: steps of 2 processes with them against steps of the same two
under no_sync(), alternating. Prints the median ratio with quartiles.

    python tests/bench/ddp_bench.py [--pairs 9]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

RANKS = 2
STEPS = 3
TARGET = 1.05


def model():
    from torch import nn

    layers, before = [], 3
    for channels, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)):
        layers += [nn.Conv2d(before, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU()]
        before = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))


def rank_main(rank, pairs, store):
    os.sched_setaffinity(0, {rank % os.cpu_count()})
    import step_time
    import torch
    import torch.distributed as dist
    import torch_npu  # noqa: F401

    torch.manual_seed(0)
    torch.npu.set_device(rank)
    dist.init_process_group("hccl", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    device = f"npu:{rank}"
    net = torch.nn.parallel.DistributedDataParallel(model().to(device), device_ids=[rank])
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    images = torch.randn(16, 3, 32, 32).to(device)
    labels = torch.randint(10, (16,)).to(device)

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(images), labels).backward()
        optimizer.step()

    def seconds():
        dist.barrier()
        return step_time.seconds(step, STEPS)

    ratios, steps = [], []
    for pair in range(pairs + 1):
        with net.no_sync():
            alone = seconds()
        together = seconds()
        if pair > 0:  # the first is a rehearsal
            ratios.append(together / alone)
            steps.append(together)
    if rank == 0:
        low, middle, high = statistics.quantiles(ratios, n=4)
        count = sum(p.numel() for p in net.parameters())
        print(
            f"DDP step {RANKS} ranks, {count / 1e6:.1f} M parameters: {statistics.median(steps) * 1e3:.1f} ms, "
            f"{middle:.3f} of a step under no_sync ({low:.3f} to {high:.3f}; target {TARGET}: "
            f"{'met' if middle <= TARGET else 'MISSED'})",
            flush=True,
        )
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--rank-of", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank_of:
        return rank_main(int(options.rank_of[0]), options.pairs, options.rank_of[1])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ANYNPU_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--pairs", str(options.pairs), "--rank-of"]
        processes = [
            subprocess.Popen([*command, str(rank), f"{folder}/store"], env=environment) for rank in range(RANKS)
        ]
        codes = [process.wait() for process in processes]
        if any(codes):
            sys.exit("a rank of the benchmark of DDP failed")


if __name__ == "__main__":
    main()
