# SPDX-License-Identifier: Apache-2.0
"""One rank of collective_bench.py and hosts_bench.py on torch's gloo: gloo_rank.py FOLDER SIZE RANK. As
comm/collective/rank_fixture.h, in Python."""

import os
import sys
import time

FOLDER, SIZE, RANK = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.sched_setaffinity(0, {RANK % os.cpu_count()})
os.environ.update(OMP_NUM_THREADS="1", TORCH_DEVICE_BACKEND_AUTOLOAD="0")

import torch  # noqa: E402 - it reads the variables above
import torch.distributed as dist  # noqa: E402


def calls_of(group):
    """{operation: a function of the number of float32 that gives a call, of which each waits}."""
    maximum = dist.AllreduceOptions()
    maximum.reduceOp = dist.ReduceOp.MAX

    def all_reduce(count):
        tensors = [torch.ones(count)]
        return lambda: group.allreduce(tensors, maximum).wait()

    def all_gather(count):
        whole, part = torch.empty(count), torch.ones(count // SIZE)
        return lambda: group._allgather_base(whole, part).wait()

    def all_to_all(count):
        send, recv = torch.ones(count), torch.empty(count)
        return lambda: group.alltoall_base(recv, send, [], []).wait()

    return {"all_reduce": all_reduce, "all_gather": all_gather, "all_to_all": all_to_all}


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{FOLDER}/gloo.store", rank=RANK, world_size=SIZE)
    # dist.all_reduce checks for microseconds what is right here
    ways = calls_of(dist.distributed_c10d._get_default_group())
    with open(f"{FOLDER}/gloo.{RANK}") as questions:
        for question in questions:
            operation, count, calls = question.split()
            call = ways[operation](int(count))
            calls = int(calls)
            for _ in range(calls // 10 + 1):
                call()
            dist.barrier()
            start = time.perf_counter()
            for _ in range(calls):
                call()
            dist.barrier()
            took = time.perf_counter() - start
            os.write(1, f"{RANK} {took:.9f}\n".encode())  # in one piece: all ranks write to this pipe


main()
