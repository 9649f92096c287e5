# SPDX-License-Identifier: Apache-2.0
"""One rank of the conformance test: every collective on data that depends on rank and position, against NumPy.

conform.py ROOT_FILE SIZE RANK SELECTION SEED [DEVICES]: SELECTION is pairwise or product. With DEVICES, this process is
all the ranks, a device and a thread each. Prints a line for each failure and at the end the number of cases.
"""

import dataclasses
import functools
import sys
import threading
import traceback
from collections.abc import Callable
from ctypes import byref, c_int32, c_size_t, c_uint32, c_uint64, c_void_p

import ml_dtypes  # noqa: F401  gives numpy its bfloat16
import numpy
from conform_case import MOVED, NUMBERS, count_of, pairwise, product, unit_of
from hccl_c import Device, HcclError, Item, Library, join

PERIOD = 10007  # data repeats after this prime, so no part of a buffer looks like another
BLANK = 0xA5
LARGE, MOST = 1 << 20, 65 << 20  # bytes
FUNCTIONS = (numpy.add, numpy.multiply, numpy.maximum, numpy.minimum)


def numpy_type(dtype):
    return numpy.dtype(f"V{MOVED[dtype][1]}" if dtype in MOVED else dtype)


@functools.cache
def tile(rank, dtype):
    """One period of what `rank` brings: any rank can compute any other's."""
    draw = numpy.random.default_rng([rank, NUMBERS[dtype]])
    if dtype in MOVED or numpy_type(dtype).kind in "iu":
        return numpy.frombuffer(draw.bytes(PERIOD * unit_of(dtype)), numpy_type(dtype))
    return draw.uniform(-2, 2, PERIOD).astype(dtype)


@functools.cache
def reduced_tile(op, ranks, dtype):
    """In the order of ranks; halves in float32, rounded once."""
    half = dtype in ("float16", "bfloat16")
    total = tile(0, dtype).astype(numpy.float32) if half else tile(0, dtype).copy()
    for rank in range(1, ranks):
        total = FUNCTIONS[op](total, tile(rank, dtype).astype(total.dtype))
    return total.astype(dtype)


def series(period, begin, count):
    """Elements begin, begin + 1 … of an endless row of periods."""
    begin %= PERIOD
    if begin + count <= PERIOD:
        return period[begin : begin + count]
    turned = numpy.concatenate([period[begin:], period[:begin]])
    whole = count // PERIOD
    out = numpy.empty(count, period.dtype)
    out[: whole * PERIOD].reshape(whole, PERIOD)[:] = turned
    out[whole * PERIOD :] = turned[: count - whole * PERIOD]
    return out


def with_gaps(counts):
    """Where parts of these counts begin when one element is left free between two."""
    return [sum(counts[:i]) + i for i in range(len(counts))]


def packed(counts):
    return [sum(counts[:i]) for i in range(len(counts))]


def words(numbers):
    return (c_uint64 * len(numbers))(*numbers)


@dataclasses.dataclass
class Job:
    """What a rank sends, calls (with its buffers' addresses) and must have then, of `recv` elements. `at`: where, in
    place, the smaller buffer lies in the larger one."""

    send: numpy.ndarray
    recv: int
    want: numpy.ndarray
    call: Callable
    at: int = 0


class Rank:
    """A rank of this process; cases come one after the other, each with data of its own."""

    def __init__(self, library, size, rank):
        self.library, self.size, self.rank = library, size, rank
        self.device = Device(library, rank % 8)
        self.comm = None
        self.number = 0  # of the case
        self.spare = []  # large buffers, used again: the system takes long to give so much memory

    def data(self, rank, begin, count):
        return series(tile(rank, self.dtype), begin + self.shift, count)

    def reduced(self, begin, count):
        return series(reduced_tile(self.op, self.size, self.dtype), begin + self.shift, count)

    def blank(self, count):
        return numpy.full(count * unit_of(self.dtype), BLANK, "uint8").view(numpy_type(self.dtype))

    def run(self, case):
        """(got, wanted) as bytes."""
        self.dtype, self.op, self.in_place = case.dtype, case.op, case.in_place
        self.number += 1
        self.shift = self.number * 7919
        self.kind = c_int32(NUMBERS[case.dtype])
        self.tail = (self.comm, self.device.stream)
        job = getattr(self, case.name)(count_of(case, self.size))
        unit = unit_of(case.dtype)
        sent, received = job.send.size * unit, job.recv * unit
        send = recv = buffer = self.buffer(max(sent, received) if case.in_place else sent)
        if not case.in_place:
            recv = self.buffer(received)
        elif received < sent:
            recv = c_void_p(buffer.value + job.at * unit)
        else:
            send = c_void_p(buffer.value + job.at * unit)
        self.device.copy_in(send, job.send)
        job.call(send, recv)
        self.device.synchronize()
        got = self.device.get(recv, job.recv, numpy_type(case.dtype))
        self.give_back(buffer, max(sent, received) if case.in_place else sent)
        if not case.in_place:
            self.give_back(recv, received)
        return got.view("uint8"), numpy.ascontiguousarray(job.want).view("uint8")

    def buffer(self, size):
        """Device memory without zeros: what nobody writes must stay as it is."""
        if size > LARGE:
            pointer = self.spare.pop() if self.spare else self.device.allocate(MOST)
        else:
            pointer = self.device.allocate(size)
        if size:
            self.library.aclrtMemset(pointer, c_size_t(size), c_int32(BLANK), c_size_t(size))
        return pointer

    def give_back(self, pointer, size):
        if size > LARGE:
            self.spare.append(pointer)
        else:
            self.device.free(pointer)

    def all_reduce(self, count):
        def call(send, recv):
            self.library.HcclAllReduce(send, recv, c_uint64(count), self.kind, c_int32(self.op), *self.tail)

        return Job(self.data(self.rank, 0, count), count, self.reduced(0, count), call)

    def reduce(self, count):
        root, own = self.number % self.size, self.data(self.rank, 0, count)

        def call(send, recv):
            operation = c_int32(self.op), c_uint32(root)
            self.library.HcclReduce(send, recv, c_uint64(count), self.kind, *operation, *self.tail)

        untouched = own if self.in_place else self.blank(count)
        return Job(own, count, self.reduced(0, count) if self.rank == root else untouched, call)

    def reduce_scatter(self, count):
        def call(send, recv):
            self.library.HcclReduceScatter(send, recv, c_uint64(count), self.kind, c_int32(self.op), *self.tail)

        at = self.rank * count
        return Job(self.data(self.rank, 0, count * self.size), count, self.reduced(at, count), call, at)

    def reduce_scatter_v(self, count):
        counts = [count + rank % 2 for rank in range(self.size)]
        offsets, mine = with_gaps(counts), counts[self.rank]

        def call(send, recv):
            tail = (self.kind, c_int32(self.op), *self.tail)
            self.library.HcclReduceScatterV(send, words(counts), words(offsets), recv, c_uint64(mine), *tail)

        everything = self.data(self.rank, 0, offsets[-1] + counts[-1])
        at = offsets[self.rank]
        return Job(everything, mine, self.reduced(at, mine), call, at)

    def broadcast(self, count):
        root = self.number % self.size

        def call(send, recv):
            self.library.HcclBroadcast(recv, c_uint64(count), self.kind, c_uint32(root), *self.tail)

        return Job(self.data(self.rank, 0, count), count, self.data(root, 0, count), call)

    def all_gather(self, count):
        def call(send, recv):
            self.library.HcclAllGather(send, recv, c_uint64(count), self.kind, *self.tail)

        want = numpy.concatenate([self.data(rank, 0, count) for rank in range(self.size)])
        return Job(self.data(self.rank, 0, count), count * self.size, want, call, self.rank * count)

    def all_gather_v(self, count):
        counts = [count + rank % 2 for rank in range(self.size)]
        offsets, mine = with_gaps(counts), counts[self.rank]

        def call(send, recv):
            tail = (self.kind, *self.tail)
            self.library.HcclAllGatherV(send, c_uint64(mine), recv, words(counts), words(offsets), *tail)

        want = self.blank(offsets[-1] + counts[-1])
        for rank, (part, at) in enumerate(zip(counts, offsets, strict=True)):
            want[at : at + part] = self.data(rank, 0, part)
        return Job(self.data(self.rank, 0, mine), want.size, want, call, offsets[self.rank])

    def scatter(self, count):
        root = self.number % self.size

        def call(send, recv):
            source = send if self.rank == root else None
            self.library.HcclScatter(source, recv, c_uint64(count), self.kind, c_uint32(root), *self.tail)

        want = self.data(root, self.rank * count, count)
        return Job(self.data(self.rank, 0, count * self.size), count, want, call, self.rank * count)

    def all_to_all(self, count):
        def call(send, recv):
            part = (c_uint64(count), self.kind)
            self.library.HcclAlltoAll(send, *part, recv, *part, *self.tail)

        want = numpy.concatenate([self.data(rank, self.rank * count, count) for rank in range(self.size)])
        return Job(self.data(self.rank, 0, want.size), want.size, want, call)

    def sent(self, rank, count):
        """What `rank` sends to each."""
        return [count + (rank + to) % 2 for to in range(self.size)]

    def received(self, count):
        return [self.sent(rank, count)[self.rank] for rank in range(self.size)]

    def exchanged(self, count, place, call):
        outgoing, incoming = (
            self.sent(self.rank, count),
            [self.sent(rank, count)[self.rank] for rank in range(self.size)],
        )
        want = self.blank(place(incoming)[-1] + incoming[-1])
        for rank, (part, at) in enumerate(zip(incoming, place(incoming), strict=True)):
            want[at : at + part] = self.data(rank, place(self.sent(rank, count))[self.rank], part)
        return Job(self.data(self.rank, 0, place(outgoing)[-1] + outgoing[-1]), want.size, want, call)

    def all_to_all_v(self, count):
        outgoing, incoming = (
            self.sent(self.rank, count),
            [self.sent(rank, count)[self.rank] for rank in range(self.size)],
        )

        def call(send, recv):
            source = words(outgoing), words(with_gaps(outgoing)), self.kind
            target = words(incoming), words(with_gaps(incoming)), self.kind
            self.library.HcclAlltoAllV(send, *source, recv, *target, *self.tail)

        return self.exchanged(count, with_gaps, call)

    def all_to_all_vc(self, count):
        matrix = [each for rank in range(self.size) for each in self.sent(rank, count)]

        def call(send, recv):
            self.library.HcclAlltoAllVC(send, words(matrix), self.kind, recv, self.kind, *self.tail)

        return self.exchanged(count, packed, call)

    def around(self, count, call):
        source = (self.rank - 1) % self.size
        return Job(self.data(self.rank, 0, count), count, self.data(source, 0, count), call)

    def send_recv(self, count):
        def call(send, recv):
            self.library.HcclGroupStart()
            to, source = c_uint32((self.rank + 1) % self.size), c_uint32((self.rank - 1) % self.size)
            self.library.HcclSend(send, c_uint64(count), self.kind, to, *self.tail)
            self.library.HcclRecv(recv, c_uint64(count), self.kind, source, *self.tail)
            self.library.HcclGroupEnd()

        return self.around(count, call)

    def batch_send_recv(self, count):
        def call(send, recv):
            to, source = (self.rank + 1) % self.size, (self.rank - 1) % self.size
            items = Item(0, send, count, self.kind, to), Item(1, recv, count, self.kind, source)
            self.library.HcclBatchSendRecv(byref((Item * 2)(*items)), c_uint32(2), *self.tail)

        return self.around(count, call)

    def go_through(self, cases):
        for case in cases:
            try:
                got, wanted = self.run(case)
            except HcclError as error:
                print("FAILED", self.rank, case, error, flush=True)
                break
            if not numpy.array_equal(got, wanted):
                wrong = numpy.flatnonzero(got != wanted)
                print("FAILED", self.rank, case, f"{wrong.size} of {got.size} bytes, first {wrong[0]}", flush=True)
            if self.number % 50 == 0:
                self.library.HcclBarrier(*self.tail)
        self.library.HcclCommDestroy(self.comm)


def in_one_process(library, cases, devices):
    comms = (c_void_p * devices)()
    library.HcclCommInitAll(c_uint32(devices), (c_int32 * devices)(*range(devices)), comms)

    def work(rank):
        try:
            me = Rank(library, devices, rank)
            me.comm = c_void_p(comms[rank])
            me.go_through(cases)
        except BaseException:
            print("FAILED", rank, traceback.format_exc(), flush=True)

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(devices)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    root, size, rank, selection, seed, *devices = sys.argv[1:]
    library = Library()
    cases = product() if selection == "product" else pairwise(int(seed))
    if devices:
        in_one_process(library, cases, int(devices[0]))
    else:
        me = Rank(library, int(size), int(rank))
        me.comm = join(library, root, me.size, me.rank)
        me.go_through(cases)
    print("cases", len(cases))


if __name__ == "__main__":
    main()
