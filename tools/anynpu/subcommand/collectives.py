# SPDX-License-Identifier: Apache-2.0
"""Shows how collectives between ranks will be done, by operation and size: the algorithm chosen (by the cheapest cost,
or HCCL_ALGO), the time that the model of their cost expects, and how much of it is copying, or on several hosts
(--hosts) sending by the busiest host. Their network is as fast as --latency, --message and --rate tell."""

from anynpu.library import door
from anynpu.output import table

# TCP over a card of 25 Gbit/s.
LATENCY_US, MESSAGE_US, BYTES_PER_US = 25.0, 3.0, 2900.0


def add_arguments(parser):
    parser.add_argument("--ranks", type=int, default=2, help="number of ranks (default: 2)")
    parser.add_argument(
        "--hosts", type=int, default=1, help="number of hosts, the ranks shared among them (default: 1)"
    )
    parser.add_argument("--operation", help="only this one: allreduce, allgather …")
    costs = parser.add_argument_group("the network between hosts")
    costs.add_argument(
        "--latency", type=float, default=LATENCY_US, metavar="US",
        help=f"microseconds until a message's first byte is there (default: {LATENCY_US:g})",
    )  # fmt: skip
    costs.add_argument(
        "--message", type=float, default=MESSAGE_US, metavar="US",
        help=f"microseconds of a processor for each message (default: {MESSAGE_US:g})",
    )  # fmt: skip
    costs.add_argument(
        "--rate", type=float, default=BYTES_PER_US, metavar="MB",
        help=f"what a host's card carries each way: 10^6 bytes a second (default: {BYTES_PER_US:g})",
    )  # fmt: skip


def size(count):
    for unit in ("B", "KB"):
        if count < 1024:
            return f"{count} {unit}"
        count //= 1024
    return f"{count} MB"


def plans_of(options):
    if options.ranks < 1:
        raise ValueError(f"there are plans for 1 to 1024 ranks, not for {options.ranks}")
    if options.hosts == 1:
        return door.collective_plans(options.ranks)
    if options.hosts < 1:
        raise ValueError(f"there are plans for 1 host or more, not for {options.hosts}")
    network = options.latency, options.message, options.rate
    return door.collective_plans_between(options.ranks, options.hosts, *network)


def execute(options):
    plans = plans_of(options)
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
