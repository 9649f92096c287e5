# SPDX-License-Identifier: Apache-2.0
"""One rank whose peer is killed at a random moment: survivor.py ROOT_FILE SIZE RANK WAY SECONDS. Each step reduces on
one stream, waits for it on another, and takes the result out of the device by WAY. One that is not the sum is WRONG,
and so is one that comes beside an error: nothing unreduced may leave the device."""

import ctypes
import os
import signal
import sys
import time
from ctypes import byref, c_int32, c_size_t, c_uint64, c_void_p

import numpy
from hccl_c import D2H, DTYPES, H2D, SUM, Device, HcclError, Library, join

COUNT = 50_000
SENTINEL = -1.0
READY = 1  # ACL_EVENT_RECORDED_STATUS_COMPLETE
HOST_FUNCTION = ctypes.CFUNCTYPE(None, c_void_p)


class Rank:
    def __init__(self, root, size, rank):
        self.library = Library()
        self.device = Device(self.library, rank)
        self.comm = join(self.library, root, size, rank)
        self.bytes = COUNT * 4
        self.data = self.device.allocate(self.bytes)
        self.input, self.output = self.pinned(), self.pinned()
        self.reducing = c_void_p()
        self.library.aclrtCreateStream(byref(self.reducing))
        self.reduced, self.copied = c_void_p(), c_void_p()
        for event in (self.reduced, self.copied):
            self.library.aclrtCreateEvent(byref(event))
        # Memory of another device of this process, for copies between devices.
        self.library.aclrtSetDevice(c_int32(rank + size))
        self.elsewhere = self.device.allocate(self.bytes)
        self.library.aclrtSetDevice(c_int32(rank))

    def pinned(self):
        pointer = c_void_p()
        self.library.aclrtMallocHost(byref(pointer), c_size_t(self.bytes))
        return numpy.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float)), (COUNT,))

    def copy(self, to, source, kind):
        """Queues a copy on the stream that waits for the reduction."""
        self.library.aclrtMemcpyAsync(
            to, c_size_t(self.bytes), source, c_size_t(self.bytes), c_int32(kind), self.device.stream
        )

    def reduce(self, value):
        """Queues the sum of `value` over all ranks, and makes the device's stream wait for it."""
        self.input[:] = value
        self.output[:] = SENTINEL
        call, reducing = self.library, self.reducing
        self.copy(self.data, self.input.ctypes.data_as(c_void_p), H2D)
        call.aclrtSynchronizeStream(self.device.stream)
        call.HcclAllReduce(
            self.data, self.data, c_uint64(COUNT), c_int32(DTYPES["float32"]), c_int32(SUM), self.comm, reducing
        )
        call.aclrtRecordEvent(self.reduced, reducing)
        call.aclrtStreamWaitEvent(self.device.stream, self.reduced)

    def out(self):
        return self.output.ctypes.data_as(c_void_p)

    # The ways out of the device. Each fills self.output.

    def pinned_copy(self):
        self.copy(self.out(), self.data, D2H)
        self.device.synchronize()

    def pageable_copy(self):
        there = numpy.full(COUNT, SENTINEL, "float32")
        try:
            self.copy(there.ctypes.data_as(c_void_p), self.data, D2H)
        finally:
            self.output[:] = there

    def synchronous_copy(self):
        self.device.synchronize()
        self.library.aclrtMemcpy(self.out(), c_size_t(self.bytes), self.data, c_size_t(self.bytes), c_int32(D2H))

    def unsynchronised_copy(self):
        """The other stream's own event says that the reduction is over; no stream is synchronised."""
        state = c_int32()
        while state.value != READY:
            self.library.aclrtQueryEventStatus(self.reduced, byref(state))
        self.library.aclrtMemcpy(self.out(), c_size_t(self.bytes), self.data, c_size_t(self.bytes), c_int32(D2H))

    def event(self):
        self.copy(self.out(), self.data, D2H)
        self.library.aclrtRecordEvent(self.copied, self.device.stream)
        self.library.aclrtSynchronizeEvent(self.copied)

    def callback(self):
        """The client's function is called with right results, or never."""
        seen = []
        function = HOST_FUNCTION(lambda _: seen.append(self.output.copy()))
        self.copy(self.out(), self.data, D2H)
        self.library.aclrtLaunchHostFunc(self.device.stream, function, None)
        try:
            self.device.synchronize()
        finally:
            if seen:
                self.output[:] = seen[0]

    def query(self):
        self.copy(self.out(), self.data, D2H)
        state = c_int32(1)
        while state.value != 0:  # ACL_STREAM_STATUS_COMPLETE
            self.library.aclrtStreamQuery(self.device.stream, byref(state))

    def other_device(self):
        self.library.aclrtMemset(self.elsewhere, c_size_t(self.bytes), c_int32(0), c_size_t(self.bytes))
        try:
            self.copy(self.elsewhere, self.data, 3)
            self.device.synchronize()
        finally:
            there = self.device.get(self.elsewhere, COUNT, "float32")
            self.output[:] = there if there.any() else SENTINEL


WAYS = [
    "pinned_copy",
    "pageable_copy",
    "synchronous_copy",
    "unsynchronised_copy",
    "event",
    "callback",
    "query",
    "other_device",
]


def main():
    root, size, rank, way, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], float(sys.argv[5])
    me = Rank(root, size, rank)
    if rank == size - 1:
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, seconds)
    until = time.monotonic() + 60
    for step in range(1, 10_000_000):
        assert time.monotonic() < until, "nobody was killed"
        value = step % 1000 + 1  # sums of it are exact in float32
        total = value * size * (size + 1) / 2
        try:
            me.reduce(value * (rank + 1))
            getattr(me, way)()
        except HcclError as error:
            print(f"HEARD in step {step}: {error.text}")
            print(
                "WRONG beside an error" if not ((me.output == SENTINEL) | (me.output == total)).all() else "NOTHING OUT"
            )
            return
        if not (me.output == total).all():
            print(f"WRONG in step {step}: {me.output[me.output != total][0]} where the sum is {total}")
            return


if __name__ == "__main__":
    main()
