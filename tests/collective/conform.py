# SPDX-License-Identifier: Apache-2.0
"""One rank of the conformance test: every collective on data that depends on rank and position, against NumPy.

conform.py ROOT_FILE SIZE RANK SELECTION SEED [DEVICES]: SELECTION is pairwise or product. With DEVICES, this process is
all the ranks, a device and a thread each. CONFORM_HOSTS, "2,2", says how many ranks each host has where there are
several. Prints a line for each failure and at the end the number of cases.
"""

import functools
import os
import sys
import threading
import traceback
from ctypes import c_int32, c_size_t, c_uint32, c_void_p

import ml_dtypes  # noqa: F401  gives numpy its bfloat16
import numpy
from conform_case import MOVED, NUMBERS, count_of, pairwise, product, unit_of
from conform_job import cases
from hccl_c import Device, HcclError, Library, join

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


def reduced(op, dtype, parts):
    """In their order; halves in float32, rounded once."""
    half = dtype in ("float16", "bfloat16")
    total = parts[0].astype(numpy.float32) if half else parts[0].copy()
    for part in parts[1:]:
        total = FUNCTIONS[op](total, part.astype(total.dtype))
    return total.astype(dtype)


@functools.cache
def reduced_tile(op, ranks, dtype):
    """In the order of ranks; between hosts first those of each host, rounded to the type, then the hosts."""
    tiles = [tile(rank, dtype) for rank in range(ranks)]
    begin, of_hosts = 0, []
    for count in map(int, os.environ.get("CONFORM_HOSTS", str(ranks)).split(",")):
        of_hosts.append(reduced(op, dtype, tiles[begin : begin + count]))
        begin += count
    return reduced(op, dtype, of_hosts)


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
        job = cases()[case.name].make(self, count_of(case, self.size))
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

    def go_through(self, chosen):
        for case in chosen:
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


def in_one_process(library, chosen, devices):
    comms = (c_void_p * devices)()
    library.HcclCommInitAll(c_uint32(devices), (c_int32 * devices)(*range(devices)), comms)

    def work(rank):
        try:
            me = Rank(library, devices, rank)
            me.comm = c_void_p(comms[rank])
            me.go_through(chosen)
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
    chosen = product() if selection == "product" else pairwise(int(seed))
    if devices:
        in_one_process(library, chosen, int(devices[0]))
    else:
        me = Rank(library, int(size), int(rank))
        me.comm = join(library, root, me.size, me.rank)
        me.go_through(chosen)
    print("cases", len(chosen))


if __name__ == "__main__":
    main()
