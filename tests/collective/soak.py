# SPDX-License-Identifier: Apache-2.0
"""One rank of the long run: soak.py ROOT_FILE SIZE RANK CALLS. Mixed collectives over random groups that come and go;
memory and descriptors must stay what they were. Prints a JSON line."""

import ctypes
import gc
import json
import os
import random
import sys
from ctypes import byref, c_int32, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy
from hccl_c import SUM, Device, Item, Library, join

FLOAT32 = 4
MOST = 5000


def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def descriptors():
    return len(os.listdir("/proc/self/fd"))


class Soak:
    def __init__(self, root, size, rank):
        self.library = Library()
        self.size, self.rank = size, rank
        self.device = Device(self.library, rank)
        self.world = join(self.library, root, size, rank)
        self.send = self.device.put(numpy.ones(MOST * size, "float32"))
        self.recv = self.device.put(numpy.zeros(MOST * size, "float32"))
        self.draw = random.Random(7)  # the same on all ranks
        self.groups = {}
        self.next_group = 0

    def new_group(self):
        """Two to all ranks; those outside draw the same numbers and do nothing."""
        members = sorted(self.draw.sample(range(self.size), self.draw.randint(2, self.size)))
        self.next_group += 1
        if self.rank not in members:
            return
        comm = c_void_p()
        ids = (c_uint32 * len(members))(*members)
        self.library.HcclCreateSubCommConfig(
            byref(self.world), c_uint32(len(members)), ids, c_uint64(self.next_group),
            c_uint32(members.index(self.rank)), self.config(), byref(comm),
        )  # fmt: skip
        self.groups[self.next_group] = (comm, len(members), members.index(self.rank))

    def config(self):
        """As HcclCommConfigInit leaves it."""
        raw = ctypes.create_string_buffer(0x8C0)
        raw[0:8] = (0x8C0).to_bytes(8, "little")
        raw[8:12] = (0xF0F0F0F0).to_bytes(4, "little")
        for offset in (0x18, 0x1C, 0x13C):
            raw[offset : offset + 4] = (0xFFFFFFFF).to_bytes(4, "little")
        return raw

    def call(self, group):
        kind, count = self.draw.randrange(6), c_uint64(self.draw.choice([1, 100, 1024, 1025, MOST]))
        if group not in self.groups:
            return
        comm, size, rank = self.groups[group]
        tail = (comm, self.device.stream)
        if kind == 0:
            self.library.HcclAllReduce(self.send, self.recv, count, c_int32(FLOAT32), c_int32(SUM), *tail)
        elif kind == 1:
            self.library.HcclBroadcast(self.recv, count, c_int32(FLOAT32), c_uint32(0), *tail)
        elif kind == 2:
            self.library.HcclAllGather(self.send, self.recv, count, c_int32(FLOAT32), *tail)
        elif kind == 3:
            self.library.HcclReduceScatter(self.send, self.recv, count, c_int32(FLOAT32), c_int32(SUM), *tail)
        elif kind == 4:
            self.library.HcclBarrier(*tail)
        else:
            items = (Item * 2)(
                Item(0, self.send, count.value, FLOAT32, (rank + 1) % size),
                Item(1, self.recv, count.value, FLOAT32, (rank - 1) % size),
            )
            self.library.HcclBatchSendRecv(byref(items), c_uint32(2), *tail)

    def run(self, calls):
        """Calls in rounds; each round ends a group and begins another. (resident, descriptors) after each tenth."""
        self.groups[0] = (self.world, self.size, self.rank)
        seen = []
        rounds = 100
        alive = [0]
        for each in range(rounds):
            while len(alive) < 4:
                self.new_group()
                alive.append(self.next_group)
            for _ in range(calls // rounds):
                self.call(self.draw.choice(alive))
            self.device.synchronize()
            gone = alive.pop(self.draw.randrange(1, len(alive)))
            if gone in self.groups:
                self.library.HcclCommDestroy(self.groups.pop(gone)[0])
            if each % 10 == 9:
                seen.append((resident(), descriptors()))
        for comm, _, _ in self.groups.values():
            self.library.HcclCommDestroy(comm)
        return seen


def main():
    root, size, rank, calls = sys.argv[1], *map(int, sys.argv[2:])
    print("SAW " + json.dumps(Soak(root, size, rank).run(calls)))


if __name__ == "__main__":
    main()
