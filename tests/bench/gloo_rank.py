# SPDX-License-Identifier: Apache-2.0
"""One rank of collective_bench.py on torch's gloo: gloo_rank.py FOLDER SIZE RANK. As
comm/collective/rank_fixture.h, in Python."""

import os
import sys
import time

FOLDER, SIZE, RANK = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.sched_setaffinity(0, {RANK % os.cpu_count()})
os.environ.update(OMP_NUM_THREADS="1", TORCH_DEVICE_BACKEND_AUTOLOAD="0")

import torch  # noqa: E402 - it reads the variables above
import torch.distributed as dist  # noqa: E402


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{FOLDER}/gloo.store", rank=RANK, world_size=SIZE)
    group = dist.distributed_c10d._get_default_group()  # dist.all_reduce checks for microseconds what is right here
    maximum = dist.AllreduceOptions()
    maximum.reduceOp = dist.ReduceOp.MAX
    with open(f"{FOLDER}/gloo.{RANK}") as questions:
        for question in questions:
            _, count, calls = question.split()
            tensors = [torch.ones(int(count))]
            calls = int(calls)
            for _ in range(calls // 10 + 1):
                group.allreduce(tensors, maximum).wait()
            dist.barrier()
            start = time.perf_counter()
            for _ in range(calls):
                group.allreduce(tensors, maximum).wait()
            dist.barrier()
            took = time.perf_counter() - start
            os.write(1, f"{RANK} {took:.9f}\n".encode())  # in one piece: all ranks write to this pipe


main()
