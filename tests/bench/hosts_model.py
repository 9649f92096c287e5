# SPDX-License-Identifier: Apache-2.0
"""What all_reduce costs on many hosts: a ring and a tree between hosts, and our way, by a model of latency, bytes and
arithmetic, and by a simulation of every message.

    python tests/bench/hosts_model.py [--hosts 8 64 1024] [--ranks 8] [--latency 25] [--message 3] [--rate 2900]
    python tests/bench/hosts_model.py --check

Each host has one card, which sends and receives at once; the network between them is never the narrow place. All three
ways reduce within a host first, through shared memory. `ring`: as many rings as a host has ranks, each over all hosts.
`tree`: binomial, up and down, of a slice for each rank. `ours`: each rank sends every other host a slice of its host's
sums and gets the reduced slices back (docs/collectives.md, "Several hosts").

--check measures comm_bench on 4 to 32 ranks over 2, 4 and 8 namespaces of this machine, where processors do the work
of the cards: the model's four numbers are fitted to some of the layouts, and tried on the others.
"""

import argparse
import math
from dataclasses import dataclass

import numpy

KB, MB = 1 << 10, 1 << 20
SIZES = {"1 KB": KB, "16 KB": 16 * KB, "64 KB": 64 * KB, "1 MB": MB, "64 MB": 64 * MB}
SMALL = 4096  # up to this many bytes each rank reduces for itself


def exchanged(hosts, size):
    """Whether hosts send each other all of their sums, at once: comm/collective/exchanged_sums.cpp."""
    return SMALL < size <= (256 * KB if hosts == 2 else 64 * KB // max(1, (hosts - 2) // 2))


@dataclass(frozen=True)
class Costs:
    """Microseconds, and bytes a microsecond."""

    latency: float = 25.0  # until a message's first byte is there
    message: float = 3.0  # of the processor, for each message that a rank sends and receives
    rate: float = 2900.0  # of a host's card: 25 Gbit/s
    wait: float = 1.0  # for the ranks of one's host
    memory: float = 12000.0  # read and written by a rank


@dataclass(frozen=True)
class Load:
    """What the busiest rank and the busiest card do for one call."""

    waits: float  # for ranks of its host
    steps: float  # one after the other, each a message's latency
    messages: float  # that a rank sends
    sent: float  # bytes, by a host
    worked: float  # bytes that a rank reads and writes

    def time(self, costs):
        own = self.waits * costs.wait + self.messages * costs.message + self.worked / costs.memory
        return own + self.steps * costs.latency + self.sent / costs.rate


def ring(hosts, ranks, size):
    """2 (H - 1) steps of a part of 1/H; what comes in the first half is added."""
    steps = 2 * (hosts - 1)
    added = 3 * size / ranks * (hosts - 1) / hosts
    return Load(2, steps, steps, steps * size / hosts, 2 * size + size / ranks + added)


def tree(hosts, ranks, size):
    """Each level moves all of it once; the root of a tree adds at every level."""
    levels = math.ceil(math.log2(hosts))
    added = 3 * size / ranks * levels
    return Load(2, 2 * levels, 2 * levels, 2 * levels * size, 2 * size + size / ranks + added)


def ours(hosts, ranks, size):
    """As comm/collective/all_reduce.cpp does it, whose row has the same numbers."""
    others = hosts - 1
    if size <= SMALL:  # the sum of the host goes to each rank that this one serves
        return Load(1, 1, others, ranks * others * size, size * (hosts * (ranks + 2) + 1))
    if exchanged(hosts, size):
        return Load(2, 1, others, others * size, size * (2 + (hosts + 1) / ranks))
    return Load(2, 2, 2 * others, 2 * size * others / hosts, size * (2 + 2 / ranks))


WAYS = {"ring": ring, "tree": tree, "ours": ours}


class Simulation:
    """Cards send one message after the other and take what comes in the order in which it comes; each message's latency
    is drawn anew, up to a fifth longer. Ranks of a host are one here: their messages go out together."""

    def __init__(self, hosts, ranks, size, costs, seed=7):
        self.hosts, self.ranks, self.size, self.costs = hosts, ranks, size, costs
        self.draw = numpy.random.default_rng(seed)

    def own(self, load):
        """What is no message, at the start."""
        return load.waits * self.costs.wait + load.worked / self.costs.memory

    def latency(self, shape):
        return self.costs.latency * self.draw.uniform(1.0, 1.2, shape)

    def arrivals(self, came, took):
        """When a card has taken all messages of a row that come at these times, each of which takes it so long."""
        came = numpy.sort(came, axis=1)
        count = came.shape[1]
        return (came + took * (count - numpy.arange(count))).max(axis=1)

    def step(self, ready, size, rotated):
        """Every host sends `size` bytes to each other one, beginning with the next or with the first."""
        took = max(size / self.costs.rate, self.costs.message)
        places = numpy.arange(self.hosts - 1)
        host = numpy.arange(self.hosts)[:, None]
        to = (host + 1 + places) % self.hosts if rotated else places + (places >= host)
        leaves = ready[:, None] + took * places + self.latency(to.shape)
        came = numpy.empty_like(leaves)
        row = numpy.where(host < to, host, host - 1)  # the sender's place at its receiver
        came[to, row] = leaves
        return self.arrivals(came, took)

    def ours(self, rotated=True):
        small = self.size <= SMALL
        ready = numpy.full(self.hosts, self.own(ours(self.hosts, self.ranks, self.size)))
        if small:
            return self.step(ready, self.ranks * self.size, rotated).max()
        if exchanged(self.hosts, self.size):
            return self.step(ready, self.size, rotated).max()
        for _ in range(2):
            ready = self.step(ready, self.size / self.hosts, rotated)
        return ready.max()

    def ring(self):
        ready = numpy.full(self.hosts, self.own(ring(self.hosts, self.ranks, self.size)))
        took = self.size / self.hosts / self.costs.rate + self.costs.message
        for _ in range(2 * (self.hosts - 1)):
            came = numpy.roll(ready, 1) + self.latency(self.hosts)
            ready = numpy.maximum(ready, came) + took
        return ready.max()

    def tree(self):
        ready = numpy.full(self.hosts, self.own(tree(self.hosts, self.ranks, self.size)))
        took = self.size / self.costs.rate + self.costs.message
        distances = [1 << level for level in range(math.ceil(math.log2(self.hosts)))]
        for up, steps in ((True, distances), (False, distances[::-1])):
            for distance in steps:
                lower = numpy.arange(0, self.hosts - distance, 2 * distance)
                one, other = (lower + distance, lower) if up else (lower, lower + distance)
                ready[other] = numpy.maximum(ready[other], ready[one] + self.latency(len(lower))) + took
        return ready.max()


def table(options, costs):
    print(
        f"{costs.latency:g} us a message's way, {costs.message:g} us of its processor, {costs.rate:g} bytes/us a card"
    )
    names = " ".join(f"{word:>11}" for word in WAYS)
    print(f"{'hosts':>6} {'ranks':>6} {'size':>6} {names}  cheapest  simulated: ring, tree, ours, ours in host order")
    for hosts in options.hosts:
        for name, size in SIZES.items():
            modelled = {way: load(hosts, options.ranks, size).time(costs) for way, load in WAYS.items()}
            simulation = Simulation(hosts, options.ranks, size, costs)
            seen = [simulation.ring(), simulation.tree(), simulation.ours(), simulation.ours(rotated=False)]
            words = " ".join(f"{us:11.0f}" for us in modelled.values())
            best = min(modelled, key=modelled.get)
            tail = " ".join(f"{us:10.0f}" for us in seen)
            print(f"{hosts:6} {hosts * options.ranks:6} {name:>6} {words}  {best:<8}  {tail}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, nargs="+", default=[8, 16, 32, 64, 128, 256, 512, 1024])
    parser.add_argument("--ranks", type=int, default=8, help="of each host")
    parser.add_argument("--latency", type=float, default=Costs.latency)
    parser.add_argument("--message", type=float, default=Costs.message)
    parser.add_argument("--rate", type=float, default=Costs.rate)
    parser.add_argument("--check", action="store_true", help="measure on this machine, as root")
    options = parser.parse_args()
    if options.check:
        import hosts_check

        return hosts_check.run()
    return table(options, Costs(options.latency, options.message, options.rate))


if __name__ == "__main__":
    main()
