# SPDX-License-Identifier: Apache-2.0
"""One rank of the conformance test: every collective on data that depends on rank and position, against NumPy.

conform.py ROOT_FILE SIZE RANK SEED PARTS PART: of all cases, those of this part. Prints a line for each failure and at
the end the number of cases.
"""

import itertools
import random
import sys
from ctypes import byref, c_int32, c_uint32, c_uint64

import ml_dtypes  # noqa: F401  gives numpy its bfloat16
import numpy
from hccl_c import DTYPES, MAX, MIN, PROD, SUM, Device, HcclError, Item, Library, join

# 0, 1, odd, both sides of what fits into a post (4096 bytes) and a channel (1024), of a cache line's slices, of 4 MB.
COUNTS = [0, 1, 3, 127, 128, 129, 511, 513, 1024, 4097, 70001, 1048577]
# Elements that are only moved: int128 and float8_e4m3fn, as bytes.
DTYPES = {**DTYPES, "bfloat16": 11, "V16": 12, "V1": 15}
OPS = {SUM: numpy.add, PROD: numpy.multiply, MAX: numpy.maximum, MIN: numpy.minimum}
REDUCING = ("all_reduce", "reduce", "reduce_scatter", "reduce_scatter_v")
MOVING = ("broadcast", "all_gather", "all_gather_v", "scatter", "all_to_all", "all_to_all_v", "send_recv")


def data(seed, rank, count, dtype):
    """What `rank` brings: any rank can compute any other's."""
    random_bits = numpy.random.default_rng([seed, rank, count])
    if dtype in ("V16", "V1"):
        return numpy.frombuffer(random_bits.bytes(count * int(dtype[1:])), dtype)
    if numpy.dtype(dtype).kind == "f" or dtype == "bfloat16":
        return random_bits.uniform(-2, 2, count).astype(dtype)
    return random_bits.integers(0, 200, count).astype(dtype)


def reduced(op, arrays):
    """In the order of ranks; halves in float32, rounded once."""
    half = arrays[0].dtype.name in ("float16", "bfloat16")
    total = arrays[0].astype(numpy.float32) if half else arrays[0].copy()
    with numpy.errstate(over="ignore"):
        for each in arrays[1:]:
            total = OPS[op](total, each.astype(total.dtype))
        return total.astype(arrays[0].dtype)


def cases(seed):
    """Every pair of values of the dimensions stands in some case; the order and the rest are drawn."""
    draw = random.Random(seed)
    out = []
    for name, dtype, count in itertools.product(REDUCING + MOVING, DTYPES, COUNTS):
        if name in REDUCING and dtype in ("V16", "V1"):
            continue
        ops = OPS if name in REDUCING else (None,)
        for op in ops:
            out.append((name, dtype, count, op, draw.random() < 0.5))
    draw.shuffle(out)
    return out


class Rank:
    def __init__(self, root, size, rank, seed):
        self.library = Library()
        self.device = Device(self.library, rank % 8)
        self.size, self.rank, self.seed = size, rank, seed
        self.comm = join(self.library, root, size, rank)

    def all(self, count, dtype):
        return [data(self.seed, rank, count, dtype) for rank in range(self.size)]

    def run(self, name, dtype, count, op, in_place):
        """(got, wanted): arrays that must be equal bit by bit."""
        return getattr(self, name)(dtype, count, op, in_place, (c_int32(DTYPES[dtype]), self.comm, self.device.stream))

    def finish(self, pointer, count, dtype, *others):
        self.device.synchronize()
        out = self.device.get(pointer, count, dtype)
        self.device.free(pointer, *others)
        return out

    def all_reduce(self, dtype, count, op, in_place, tail):
        send = self.device.put(data(self.seed, self.rank, count, dtype))
        recv = send if in_place else self.device.put(numpy.zeros(count, dtype))
        self.library.HcclAllReduce(send, recv, c_uint64(count), tail[0], c_int32(op), *tail[1:])
        got = self.finish(recv, count, dtype, *([] if in_place else [send]))
        return got, reduced(op, self.all(count, dtype))

    def reduce(self, dtype, count, op, in_place, tail):
        root = count % self.size
        send = self.device.put(data(self.seed, self.rank, count, dtype))
        recv = send if in_place else self.device.put(numpy.zeros(count, dtype))
        self.library.HcclReduce(send, recv, c_uint64(count), tail[0], c_int32(op), c_uint32(root), *tail[1:])
        got = self.finish(recv, count, dtype, *([] if in_place else [send]))
        return (got, reduced(op, self.all(count, dtype))) if self.rank == root else (got, got)

    def reduce_scatter(self, dtype, count, op, in_place, tail):
        everything = data(self.seed, self.rank, count * self.size, dtype)
        send = self.device.put(everything)
        recv = self.device.put(numpy.zeros(count, dtype))
        self.library.HcclReduceScatter(send, recv, c_uint64(count), tail[0], c_int32(op), *tail[1:])
        got = self.finish(recv, count, dtype, send)
        part = slice(self.rank * count, (self.rank + 1) * count)
        return got, reduced(op, self.all(count * self.size, dtype))[part]

    def broadcast(self, dtype, count, op, in_place, tail):
        root = count % self.size
        both = self.device.put(data(self.seed, self.rank, count, dtype))
        self.library.HcclBroadcast(both, c_uint64(count), tail[0], c_uint32(root), *tail[1:])
        return self.finish(both, count, dtype), data(self.seed, root, count, dtype)

    def all_gather(self, dtype, count, op, in_place, tail):
        own = data(self.seed, self.rank, count, dtype)
        all_zero = numpy.zeros(count * self.size, dtype)
        if in_place:
            all_zero[self.rank * count : (self.rank + 1) * count] = own
        recv = self.device.put(all_zero)
        offset = self.rank * count * numpy.dtype(dtype).itemsize
        send = type(recv)(recv.value + offset) if in_place else self.device.put(own)
        self.library.HcclAllGather(send, recv, c_uint64(count), *tail)
        got = self.finish(recv, count * self.size, dtype, *([] if in_place else [send]))
        return got, numpy.concatenate(self.all(count, dtype))

    def scatter(self, dtype, count, op, in_place, tail):
        root = count % self.size
        send = self.device.put(data(self.seed, self.rank, count * self.size, dtype))
        recv = self.device.put(numpy.zeros(count, dtype))
        self.library.HcclScatter(send, recv, c_uint64(count), tail[0], c_uint32(root), *tail[1:])
        got = self.finish(recv, count, dtype, send)
        return got, data(self.seed, root, count * self.size, dtype)[self.rank * count : (self.rank + 1) * count]

    def all_to_all(self, dtype, count, op, in_place, tail):
        send = self.device.put(data(self.seed, self.rank, count * self.size, dtype))
        recv = self.device.put(numpy.zeros(count * self.size, dtype))
        kind, n = tail[0], c_uint64(count)
        self.library.HcclAlltoAll(send, n, kind, recv, n, kind, *tail[1:])
        got = self.finish(recv, count * self.size, dtype, send)
        part = slice(self.rank * count, (self.rank + 1) * count)
        return got, numpy.concatenate([each[part] for each in self.all(count * self.size, dtype)])

    def parts(self, counts):
        """Counts of unequal parts and where they stand, one after the other, as C takes them."""
        offsets = [sum(counts[:i]) for i in range(len(counts))]
        return (c_uint64 * len(counts))(*counts), (c_uint64 * len(counts))(*offsets)

    def reduce_scatter_v(self, dtype, count, op, in_place, tail):
        counts = [count + rank % 2 for rank in range(self.size)]
        send = self.device.put(data(self.seed, self.rank, sum(counts), dtype))
        mine = counts[self.rank]
        recv = self.device.put(numpy.zeros(mine, dtype))
        self.library.HcclReduceScatterV(
            send, *self.parts(counts), recv, c_uint64(mine), tail[0], c_int32(op), *tail[1:]
        )
        begin = sum(counts[: self.rank])
        wanted = reduced(op, self.all(sum(counts), dtype))[begin : begin + mine]
        return self.finish(recv, mine, dtype, send), wanted

    def all_gather_v(self, dtype, count, op, in_place, tail):
        counts = [count + rank % 2 for rank in range(self.size)]
        mine = counts[self.rank]
        send = self.device.put(data(self.seed, self.rank, mine, dtype))
        recv = self.device.put(numpy.zeros(sum(counts), dtype))
        self.library.HcclAllGatherV(send, c_uint64(mine), recv, *self.parts(counts), *tail)
        got = self.finish(recv, sum(counts), dtype, send)
        return got, numpy.concatenate([data(self.seed, rank, each, dtype) for rank, each in enumerate(counts)])

    def all_to_all_v(self, dtype, count, op, in_place, tail):
        def sent(rank):
            return [count + (rank + to) % 2 for to in range(self.size)]

        def part(rank):
            begin = sum(sent(rank)[: self.rank])
            return data(self.seed, rank, sum(sent(rank)), dtype)[begin : begin + sent(rank)[self.rank]]

        outgoing, incoming = sent(self.rank), [sent(rank)[self.rank] for rank in range(self.size)]
        send = self.device.put(data(self.seed, self.rank, sum(outgoing), dtype))
        recv = self.device.put(numpy.zeros(sum(incoming), dtype))
        self.library.HcclAlltoAllV(
            send, *self.parts(outgoing), tail[0], recv, *self.parts(incoming), tail[0], *tail[1:]
        )
        got = self.finish(recv, sum(incoming), dtype, send)
        return got, numpy.concatenate([part(rank) for rank in range(self.size)])

    def send_recv(self, dtype, count, op, in_place, tail):
        to, source = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        send = self.device.put(data(self.seed, self.rank, count, dtype))
        recv = self.device.put(numpy.zeros(count, dtype))
        items = (Item * 2)(Item(0, send, count, DTYPES[dtype], to), Item(1, recv, count, DTYPES[dtype], source))
        self.library.HcclBatchSendRecv(byref(items), c_uint32(2), *tail[1:])
        return self.finish(recv, count, dtype, send), data(self.seed, source, count, dtype)


def main():
    root, size, rank, seed, parts, part = sys.argv[1], *map(int, sys.argv[2:])
    me = Rank(root, size, rank, seed)
    mine = cases(seed)[part::parts]
    for case in mine:
        try:
            got, wanted = me.run(*case)
        except HcclError as error:
            print("FAILED", case, error)
            break
        if not numpy.array_equal(got.view(numpy.uint8), wanted.view(numpy.uint8)):
            print("FAILED", case, f"{(got != wanted).sum()} of {got.size} differ")
    me.library.HcclCommDestroy(me.comm)
    print("cases", len(mine))


if __name__ == "__main__":
    main()
