# SPDX-License-Identifier: Apache-2.0
"""Shows how collectives between ranks of this host will be done, by operation and size: the algorithm chosen (by the
cheapest cost, or HCCL_ALGO), the time that the model of their cost expects, and how much of it is copying."""

from anynpu.library import door
from anynpu.output import table


def add_arguments(parser):
    parser.add_argument("--ranks", type=int, default=2, help="number of ranks (default: 2)")
    parser.add_argument("--operation", help="only this one: allreduce, allgather …")


def size(count):
    for unit in ("B", "KB"):
        if count < 1024:
            return f"{count} {unit}"
        count //= 1024
    return f"{count} MB"


def execute(options):
    if options.ranks < 1:
        raise ValueError(f"there are plans for 1 to 1024 ranks, not for {options.ranks}")
    plans = door.collective_plans(options.ranks)
    operations = list(dict.fromkeys(p.operation for p in plans))
    if options.operation and options.operation not in operations:
        raise ValueError(f"there is no operation {options.operation}; there are {', '.join(operations)}")
    rows = [
        [p.operation, size(p.bytes), p.algorithm or "-", f"{p.us:.2f}", f"{min(1, p.limit_us / p.us):.2f}"]
        for p in plans
        if options.operation in (None, p.operation)
    ]
    print(table.columns(["operation", "larger buffer", "algorithm", "expected us", "of the limit"], rows))
    return 0
