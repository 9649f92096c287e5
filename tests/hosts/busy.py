# SPDX-License-Identifier: Apache-2.0
"""One rank that works until it hears of a fault: busy.py ROOT_FILE SIZE RANK SECONDS [COUNT]. Prints BUSY when it has
begun, HEARD and the text of what it hears, or DONE when rank 0's time is over. Every result is checked."""

import sys
import time
from ctypes import c_int32, c_uint64

import numpy
from hccl_c import DTYPES, MAX, SUM, Device, HcclError, Library, join


class Rank:
    def __init__(self, root, size, rank, count):
        self.library, self.size, self.rank, self.count = Library(), size, rank, count
        self.device = Device(self.library, rank % 8)
        self.comm = join(self.library, root, size, rank)
        self.send = self.device.put(numpy.arange(count, dtype="float32") % 1000 + rank)
        self.wanted = (numpy.arange(count, dtype="float32") % 1000) * size + size * (size - 1) // 2  # exact in float32
        self.recv = self.device.put(numpy.zeros(count, "float32"))
        self.word = self.device.put(numpy.zeros(1, "int32"))

    def all_reduce(self, send, recv, count, dtype, op):
        kind, tail = c_int32(DTYPES[dtype]), (self.comm, self.device.stream)
        self.library.HcclAllReduce(send, recv, c_uint64(count), kind, c_int32(op), *tail)

    def round(self, over):
        """True when rank 0 says that it is the last one."""
        self.device.copy_in(self.word, numpy.array([over], "int32"))
        self.all_reduce(self.word, self.word, 1, "int32", MAX)
        self.all_reduce(self.send, self.recv, self.count, "float32", SUM)
        self.device.synchronize()
        got = self.device.get(self.recv, self.count, "float32")
        if not numpy.array_equal(got, self.wanted):
            raise AssertionError(f"wrong at {numpy.flatnonzero(got != self.wanted)[0]}")
        return self.device.get(self.word, 1, "int32")[0] == 1


def main():
    root, size, rank, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    count = int(sys.argv[5]) if len(sys.argv) > 5 else 100_000
    try:
        me = Rank(root, size, rank, count)
        me.round(0)
        print("BUSY", flush=True)
        end, rounds = time.monotonic() + seconds, 1
        while not me.round(rank == 0 and time.monotonic() > end):
            rounds += 1
        me.library.HcclCommDestroy(me.comm)
        print("DONE", rounds, flush=True)
    except HcclError as error:
        print("HEARD", error.code, error.text.replace("\n", " "), flush=True)


if __name__ == "__main__":
    main()
