# SPDX-License-Identifier: Apache-2.0
"""One rank of the fault tests: fault.py ROOT_FILE SIZE RANK WHAT. Each rank prints what it heard and after how long."""

import contextlib
import os
import signal
import socket
import sys
import time
from ctypes import byref, c_int32, c_uint32, c_uint64, c_void_p

import numpy
from hccl_c import DTYPES, SUM, Device, HcclError, Item, Library, join

COUNT = 200_000


class Rank:
    def __init__(self, root, size, rank):
        self.library = Library()
        self.rank, self.size = rank, size
        self.device = Device(self.library, rank)
        self.comm = join(self.library, root, size, rank)
        self.send = self.device.put(numpy.ones(COUNT * size, "float32"))
        self.recv = self.device.put(numpy.zeros(COUNT * size, "float32"))

    def all_reduce(self, count=COUNT, dtype="float32", op=SUM):
        self.library.HcclAllReduce(
            self.send, self.recv, c_uint64(count), c_int32(DTYPES[dtype]), c_int32(op), self.comm, self.device.stream
        )

    def broadcast(self, root):
        self.library.HcclBroadcast(
            self.send, c_uint64(COUNT), c_int32(4), c_uint32(root), self.comm, self.device.stream
        )

    def all_gather(self):
        self.library.HcclAllGather(self.send, self.recv, c_uint64(COUNT), c_int32(4), self.comm, self.device.stream)

    def receive(self, source):
        item = Item(1, self.recv, COUNT, 4, source)
        self.library.HcclBatchSendRecv(byref(item), c_uint32(1), self.comm, self.device.stream)

    def busy(self):
        for _ in range(1_000_000):
            self.all_reduce(1000)
            self.all_reduce()
            self.wait()

    def every_call(self):
        """After a fault each one gives its text: none of them waits for ranks that have gone."""
        tail = (self.comm, self.device.stream)
        count, kind, other = c_uint64(8), c_int32(4), c_uint32((self.rank + 1) % self.size)
        matrix = (c_uint64 * self.size**2)(*[1] * self.size**2)
        members, sub = (c_uint32 * self.size)(*range(self.size)), c_void_p()
        call = self.library
        yield lambda: call.HcclAllReduce(self.send, self.recv, count, kind, c_int32(SUM), *tail)
        yield lambda: call.HcclReduce(self.send, self.recv, count, kind, c_int32(SUM), c_uint32(0), *tail)
        yield lambda: call.HcclBroadcast(self.send, count, kind, c_uint32(0), *tail)
        yield lambda: call.HcclReduceScatter(self.send, self.recv, count, kind, c_int32(SUM), *tail)
        yield lambda: call.HcclAllGather(self.send, self.recv, count, kind, *tail)
        yield lambda: call.HcclScatter(self.send, self.recv, count, kind, c_uint32(0), *tail)
        yield lambda: call.HcclAlltoAll(self.send, count, kind, self.recv, count, kind, *tail)
        yield lambda: call.HcclAlltoAllVC(self.send, matrix, kind, self.recv, kind, *tail)
        yield lambda: call.HcclBarrier(*tail)
        yield lambda: call.HcclSend(self.send, count, kind, other, *tail)
        yield lambda: call.HcclRecv(self.recv, count, kind, other, *tail)
        yield lambda: call.HcclCreateSubCommConfig(
            byref(self.comm), c_uint32(self.size), members, c_uint64(1), c_uint32(self.rank), None, byref(sub)
        )

    def wait(self):
        self.device.synchronize()

    def drain(self):
        """Who heard of the fault from a call has not heard what became of the work queued before it: that stays with
        the stream, and is told by its synchronisation."""
        with contextlib.suppress(HcclError):
            self.wait()

    def async_error(self):
        out = c_int32()
        self.library.HcclGetCommAsyncError(self.comm, byref(out))
        return out.value


def tear_connections():
    """Ends all connections of this process to others."""
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            connection = socket.socket(fileno=os.dup(int(descriptor)))
            connection.getpeername()
            connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        except OSError:
            pass  # no socket, or one that listens


def misbehave(me, what):
    """What the last rank does in place of the others' all_reduce."""
    if what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "exited":
        os._exit(3)
    elif what in ("returned", "done"):
        sys.exit(0)  # without HcclCommDestroy
    elif what == "left":
        me.library.HcclCommDestroy(me.comm)
        time.sleep(4)
        sys.exit(0)
    elif what == "killed_busy":
        signal.setitimer(signal.ITIMER_REAL, 0.3)  # its signal ends the process, wherever it is
        me.busy()
    elif what == "reset":
        tear_connections()
        me.busy()
    elif what == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif what == "late":
        time.sleep(60)
    elif what == "other_count":
        me.all_reduce(COUNT // 2)
    elif what == "other_dtype":
        me.all_reduce(dtype="int32")
    elif what == "other_op":
        me.all_reduce(op=2)
    elif what == "other_root":
        me.broadcast(1)
    elif what == "other_operation":
        me.all_gather()
    elif what == "other_order":
        me.broadcast(0)


def main():
    root, size, rank, what = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    me = Rank(root, size, rank)
    for _ in range(3):
        me.all_reduce()
    me.wait()
    if what == "all_busy":
        print("BUSY", flush=True)
        me.busy()
    time.sleep(0.2)
    start = time.monotonic()
    try:
        if rank == size - 1:
            misbehave(me, what)
        elif what == "other_root":
            me.broadcast(0)
        elif what == "done":
            time.sleep(1)
            print(f"DISTURBED {me.async_error()}")
            time.sleep(1)
        elif what == "killed_in_receive":
            me.receive(size - 1)
        elif what in ("killed_busy", "reset"):
            me.busy()
        else:
            me.all_reduce()
        if rank == size - 1 and what == "killed_in_receive":
            os.kill(os.getpid(), signal.SIGKILL)
        me.wait()
        print("HEARD nothing")
    except HcclError as error:
        print(f"HEARD after {time.monotonic() - start:.3f} s, async {me.async_error()}: {error}")
    for call in me.every_call():
        begin = time.monotonic()
        try:
            call()
            print("AGAIN nothing")
        except HcclError as error:
            print(f"AGAIN {error.text.split('] ', 1)[1]}")  # without the function's name
        assert time.monotonic() - begin < 1
    me.library.HcclCommDestroy(me.comm)
    if what == "reset":  # the processes are there, and can join again
        me.drain()
        me.comm = join(me.library, root + "-again", size, rank)
        me.all_reduce()
        me.wait()
        me.library.HcclCommDestroy(me.comm)
        print("TOGETHER AGAIN")
    me.device.free(me.send, me.recv)
    print("DONE")


if __name__ == "__main__":
    main()
