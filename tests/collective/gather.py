# SPDX-License-Identifier: Apache-2.0
"""One rank of the tests of beginnings that fail: gather.py ROOT_FILE SIZE RANK WHAT [TABLE]. The rank that is to blame
prints when it began to be; the others print when they heard what, on the clock that all processes share."""

import ctypes
import json
import os
import resource
import signal
import socket
import struct
import sys
import threading
import time
from ctypes import byref, c_char_p, c_int32, c_uint32, c_void_p
from pathlib import Path

import hccl_c
import numpy
from hccl_c import ROOT_INFO_BYTES, SUM, Device, HcclError, Library

PROTOCOL = 2


class Rank:
    def __init__(self, root, size, rank):
        self.library = Library()
        self.root, self.size, self.rank = Path(root), size, rank
        self.device = Device(self.library, rank)
        self.last = rank == size - 1

    def guilty(self):
        print("GUILTY", time.monotonic(), flush=True)

    def hears(self, function):
        try:
            function()
            print("HEARD nothing", flush=True)
        except HcclError as error:
            print("HEARD", time.monotonic(), error.code, error.text, flush=True)

    def join(self, size=None, rank=None):
        self.comm = hccl_c.join(
            self.library, self.root, self.size if size is None else size, self.rank if rank is None else rank
        )

    def others_have_come(self):
        """They have long had what they need to come."""
        while not self.root.exists():
            time.sleep(0.01)
        time.sleep(0.5)

    def dial(self):
        """A connection to the process that gathers the ranks, and the name of the group."""
        self.others_have_come()
        _, group, address, port = struct.unpack_from("8s64s64sH", self.root.read_bytes())
        connection = socket.create_connection((address.rstrip(b"\0").decode(), port))
        return connection, group.rstrip(b"\0").decode()

    def greet(self, **changes):
        connection, group = self.dial()
        peer = {"rank": self.rank, "device": 0, "pid": os.getpid(), "host": "here", "process": "x", "socket": "/x"}
        hello = {"protocol": PROTOCOL, "library": "9.9.9", "uid": group, "size": self.size, "peer": peer} | changes
        text = json.dumps(hello).encode()
        connection.sendall(struct.pack("I", len(text)) + text)
        while connection.recv(1000):
            pass  # a greeting, and the refusal

    def other_version(self):
        """A rank that was installed with another version of the library."""
        if not self.last:
            return self.hears(self.join)
        self.guilty()
        self.greet()

    def other_protocol(self):
        if not self.last:
            return self.hears(self.join)
        self.guilty()
        self.greet(protocol=99)

    def twice(self):
        if self.last:
            self.others_have_come()
            self.guilty()
        self.hears(lambda: self.join(rank=1 if self.last else self.rank))

    def other_size(self):
        if self.last:
            self.others_have_come()
            self.guilty()
        self.hears(lambda: self.join(size=self.size + self.last))

    def gone(self):
        """Killed when it has registered, before the last one has."""
        if self.rank == 1:
            signal.setitimer(signal.ITIMER_REAL, 1)
            print("GUILTY", time.monotonic() + 1, flush=True)
        if self.last:
            time.sleep(2)  # it comes after the others have failed, and hears why
        self.hears(self.join)
        time.sleep(3)

    def root_gone(self):
        if self.rank == 0:
            signal.setitimer(signal.ITIMER_REAL, 1)
            print("GUILTY", time.monotonic() + 1, flush=True)
        if self.last:
            self.others_have_come()
            time.sleep(1.5)
            begin = time.monotonic()
            self.hears(self.join)
            print(f"LATE {time.monotonic() - begin:.3f}")
        else:
            self.hears(self.join)

    def torn(self):
        """The connection to the process that gathers is reset after a rank has registered."""
        if not self.last:
            self.size += 1
            return self.hears(self.join)
        self.size += 1  # somebody is missing, so that all wait
        threading.Timer(1, self.tear).start()
        self.hears(self.join)

    def tear(self):
        """The connections of this process over the network, from outside of the library."""
        self.guilty()
        for descriptor in os.listdir("/proc/self/fd"):
            try:
                with socket.socket(fileno=os.dup(int(descriptor))) as connection:
                    if connection.family == socket.AF_INET:
                        connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # no socket

    def table(self):
        """Joins by the table given; a second argument is a table of the last rank's own."""
        paths = sys.argv[5:]
        self.guilty()
        path = paths[-1] if self.last else paths[0]
        self.comm = c_void_p()
        self.hears(
            lambda: self.library.HcclCommInitClusterInfo(c_char_p(path.encode()), c_uint32(self.rank), byref(self.comm))
        )

    def world(self):
        """Joins as the environment says."""
        self.guilty()
        self.hears(self.library.anynpu_world_join)

    def ports(self):
        """All ports of the block are taken."""
        first = int(os.environ["HCCL_IF_BASE_PORT"])
        taken = []
        address = os.environ["HCCL_IF_IP"]
        for port in range(first, first + 16):
            taken.append(socket.socket())
            taken[-1].bind((address, port))
            taken[-1].listen()
        self.guilty()
        info = ctypes.create_string_buffer(ROOT_INFO_BYTES)
        self.hears(lambda: self.library.HcclGetRootInfo(info))
        taken[7].close()
        self.library.HcclGetRootInfo(info)

    def no_addresses(self):
        """The last rank has no room for its peers' memory when the first call needs it."""
        self.join()
        both = self.device.put(numpy.ones(100_000, "float32"))
        tail = (self.comm, self.device.stream)
        if self.last:
            used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * 4096
            resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), resource.RLIM_INFINITY))
            self.guilty()
        self.library.HcclAllReduce(both, both, ctypes.c_uint64(100_000), c_int32(4), c_int32(SUM), *tail)
        self.hears(self.device.synchronize)

    def killed_at(self, milliseconds):
        """The last rank is killed so long after it began to join; the others join and work until they hear of it."""
        both = self.device.put(numpy.ones(5000, "float32"))
        if self.last:
            self.others_have_come()
            print("GUILTY", time.monotonic() + milliseconds / 1000, flush=True)
            signal.setitimer(signal.ITIMER_REAL, milliseconds / 1000)

        def work():
            self.join()
            while True:
                self.library.HcclAllReduce(
                    both, both, ctypes.c_uint64(5000), c_int32(4), c_int32(SUM), self.comm, self.device.stream
                )
                self.device.synchronize()

        self.hears(work)


def main():
    root, size, rank, what = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    me = Rank(root, size, rank)
    if what.startswith("killed_at_"):
        me.killed_at(float(what.removeprefix("killed_at_")))
    else:
        if what.startswith("late_table_") and rank == int(what[-1]):
            time.sleep(3)
        getattr(me, "table" if what.startswith("late_table_") else what)()
    print("DONE", flush=True)


if __name__ == "__main__":
    main()
