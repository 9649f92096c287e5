# SPDX-License-Identifier: Apache-2.0
"""How fast all_reduce is between processes of this host, against torch's gloo in the same processes, alternating.

Prints for each size the median time of a call, the median ratio of the pairs with quartiles, and the share of the
limit: every byte of every rank is read once and written once, at the rate at which this machine copies.

python tests/bench/collective_bench.py [--ranks 2 4] [--pairs 7]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SIZES = {"4 B": 1, "64 KB": 16384, "1 MB": 262144, "64 MB": 16777216}
TARGETS = {2: (0.4, 5, 100, 10_000), 4: (3, 15, 300, 20_000), 8: (8, 30, 550, 35_000)}  # microseconds


def seconds(call, wait, calls):
    start = time.perf_counter()
    for _ in range(calls):
        call()
    wait()
    return (time.perf_counter() - start) / calls


def copy_rate():
    """Bytes read and written a second by one thread that copies 64 MB."""
    import numpy

    source = numpy.ones(1 << 26, "uint8")
    target = numpy.empty_like(source)
    best = min(seconds(lambda: numpy.copyto(target, source), lambda: None, 1) for _ in range(5))
    return 2 * source.nbytes / best


def rank_main(root, size, rank, pairs):
    os.environ["ANYNPU_LIBRARY"] = os.environ.get("ANYNPU_LIBRARY", str(ROOT / "build/lib/libanynpu.so"))
    sys.path.insert(0, str(ROOT / "tests/collective"))
    from ctypes import c_int32, c_uint64

    import numpy
    import torch
    import torch.distributed as dist
    from hccl_c import Device, Library, join

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{root}.gloo", rank=rank, world_size=size)
    library = Library()
    device = Device(library, rank)
    comm = join(library, root, size, rank)
    rate = copy_rate()
    for index, (name, count) in enumerate(SIZES.items()):
        send, recv = (device.put(numpy.ones(count, "float32")) for _ in range(2))
        tensor = torch.ones(count)
        calls = max(3, min(2000, (1 << 22) // count))

        def ours(send=send, recv=recv, count=count):
            library.HcclAllReduce(send, recv, c_uint64(count), c_int32(4), c_int32(0), comm, device.stream)

        def gloo(tensor=tensor):
            dist.all_reduce(tensor, op=dist.ReduceOp.MAX)

        ratios, times = [], []
        for pair in range(pairs + 1):
            dist.barrier()
            mine = seconds(ours, device.synchronize, calls)
            dist.barrier()
            theirs = seconds(gloo, lambda: None, max(3, calls // 10))
            if pair > 0:  # the first is a rehearsal
                ratios.append(theirs / mine)
                times.append(mine)
        if rank == 0:
            low, middle, high = statistics.quantiles(ratios, n=4)
            mine = statistics.median(times) * 1e6
            limit = 2 * size * count * 4 / (rate * min(size, os.cpu_count() or 1)) * 1e6
            target = TARGETS[size][index] if size in TARGETS else None
            met = "" if target is None else f"   target {target} us {'met' if mine <= target else 'MISSED'}"
            print(
                f"all_reduce {size} ranks {name:>6}: {mine:10.1f} us, {middle:6.1f}x gloo ({low:.1f} to {high:.1f}), "
                f"{min(1.0, limit / mine):4.0%} of the copying limit{met}",
                flush=True,
            )
        device.free(send, recv)
    library.HcclCommDestroy(comm)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--rank-of", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank_of:
        root, size, rank = options.rank_of
        return rank_main(root, int(size), int(rank), options.pairs)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ANYNPU_THREADS": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    for size in options.ranks:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, "--pairs", str(options.pairs), "--rank-of", f"{folder}/r", str(size)]
            processes = [subprocess.Popen([*command, str(rank)], env=environment) for rank in range(size)]
            codes = [process.wait() for process in processes]
            if any(codes):
                sys.exit(f"the benchmark of {size} ranks failed")


if __name__ == "__main__":
    main()
