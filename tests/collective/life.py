# SPDX-License-Identifier: Apache-2.0
"""One rank of the tests of beginnings and ends: life.py ROOT_FILE SIZE RANK WHAT. Prints what it saw."""

import ctypes
import gc
import os
import resource
import signal
import subprocess
import sys
import time
from ctypes import byref, c_int32, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy
from hccl_c import ROOT_INFO_BYTES, SUM, Device, HcclError, Library, join

FLOAT32 = 4
COUNT = 5000


class Rank:
    def __init__(self, root, size, rank):
        self.library = Library()
        self.root, self.size, self.rank = root, size, rank
        self.device = Device(self.library, rank)

    def join(self, suffix=""):
        self.comm = join(self.library, self.root + suffix, self.size, self.rank)
        return self.comm

    def all_reduce(self):
        both = self.device.put(numpy.ones(COUNT, "float32"))
        tail = (self.comm, self.device.stream)
        self.library.HcclAllReduce(both, both, c_uint64(COUNT), c_int32(FLOAT32), c_int32(SUM), *tail)
        return both

    def check(self):
        both = self.all_reduce()
        self.device.synchronize()
        assert (self.device.get(both, COUNT, "float32") == self.size).all()

    def fails(self, function):
        try:
            function()
        except HcclError as error:
            return error
        raise AssertionError("no error came")

    def exits_in_a_collective(self):
        self.join()
        if self.rank == self.size - 1:
            self.all_reduce()
            print("ENDING", time.monotonic(), flush=True)
            sys.exit(0)
        time.sleep(4)  # the others come too late
        start = time.monotonic()
        error = self.fails(self.check)
        print(f"HEARD after {time.monotonic() - start:.3f} s: {error}")
        self.library.HcclCommDestroy(self.comm)

    def exits_with_calls_that_run(self):
        """Queued calls of a process that ends are waited for while the others come."""
        self.join()
        if self.rank == self.size - 1:
            self.all_reduce()
            sys.exit(0)
        self.check()

    def root_alone(self):
        self.library.HcclGetRootInfo(ctypes.create_string_buffer(ROOT_INFO_BYTES))

    def forks(self):
        self.join()
        child = os.fork()
        if child == 0:
            print("CHILD", self.fails(self.check), flush=True)
            ctypes.CDLL(None).exit(0)  # with all exit hooks of C
        assert os.waitpid(child, 0)[1] == 0
        self.check()
        self.library.HcclCommDestroy(self.comm)
        self.join("2")  # its socket is still there
        self.check()

    def stale_handles(self):
        seen = set()
        for each in range(20):
            comm = c_void_p(self.join(str(each)).value)
            assert comm.value not in seen
            seen.add(comm.value)
            self.library.HcclCommDestroy(comm)
            for old in seen:
                self.comm = c_void_p(old)
                assert self.fails(self.all_reduce).code == 1
            assert self.fails(lambda comm=comm: self.library.HcclCommDestroy(comm)).code == 1

    def group_with_a_wrong_call(self):
        self.join()
        buffer = self.device.put(numpy.ones(4, "float32"))
        self.library.HcclGroupStart()
        to, count = c_uint32(99), c_uint64(4)
        self.library.HcclSend(buffer, count, c_int32(FLOAT32), to, self.comm, self.device.stream)
        error = self.fails(self.library.HcclGroupEnd)
        assert error.code == 1 and "destRank is 99" in error.text, error
        assert self.fails(self.library.HcclGroupEnd).code == 1  # the group is over
        self.check()
        self.library.HcclGroupStart()
        self.fails(lambda: self.library.HcclBroadcast(buffer, count, c_int32(FLOAT32), c_uint32(0), None, None))
        both = self.all_reduce()
        self.library.HcclGroupEnd()
        self.device.synchronize()
        assert (self.device.get(both, COUNT, "float32") == self.size).all()

    def group_over_a_destroyed(self):
        self.join()
        self.library.HcclGroupStart()
        self.all_reduce()
        self.library.HcclCommDestroy(self.comm)
        error = self.fails(self.library.HcclGroupEnd)
        assert "was destroyed" in error.text, error

    def small_config(self):
        """Fields behind the size of an older client's structure are not its: here they are nonsense."""
        config = ctypes.create_string_buffer(b"\xee" * 0x8C0, 0x8C0)
        config[0:8] = (0x1C).to_bytes(8, "little")
        config[8:12] = (0xF0F0F0F0).to_bytes(4, "little")
        config[0x18:0x1C] = (200).to_bytes(4, "little")
        info, comm, name = ctypes.create_string_buffer(ROOT_INFO_BYTES), c_void_p(), ctypes.create_string_buffer(128)
        self.library.HcclGetRootInfo(info)
        self.library.HcclCommInitRootInfoConfig(c_uint32(1), info, c_uint32(0), config, byref(comm))
        self.library.HcclGetCommName(comm, name)
        assert name.value and b"\xee" not in name.value
        self.library.HcclCommDestroy(comm)

    def descriptors(self):
        self.join()
        info, comm = ctypes.create_string_buffer(ROOT_INFO_BYTES), c_void_p()
        self.library.HcclGetRootInfo(info)
        wrong = [
            lambda: self.library.HcclCommInitRootInfo(c_uint32(2), info, c_uint32(2), byref(comm)),
            lambda: self.library.HcclCommInitRootInfo(c_uint32(0), info, c_uint32(0), byref(comm)),
            lambda: self.library.HcclCommInitClusterInfo(b"/nowhere", c_uint32(0), byref(comm)),
            lambda: self.library.HcclCommInitAll(c_uint32(2), (c_int32 * 2)(0, 0), byref(comm)),
            lambda: self.library.HcclCommInitRootInfo(
                c_uint32(2), ctypes.create_string_buffer(ROOT_INFO_BYTES), c_uint32(0), byref(comm)
            ),
        ]
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            for each in wrong:
                self.fails(each)
        print("DESCRIPTORS", len(os.listdir("/proc/self/fd")) - before)

    def mapped(self):
        """Memory of the library's in this process: arenas, boards, and those of peers."""
        gc.collect()
        lines = Path("/proc/self/maps").read_text(encoding="ascii").splitlines()
        return sum("memfd:anynpu" in line for line in lines)

    def mapped_soon(self, wanted):
        """The service's thread lets go a moment later."""
        until = time.monotonic() + 0.4  # before it looks by itself
        while self.mapped() != wanted and time.monotonic() < until:
            time.sleep(0.005)
        return self.mapped()

    def meet_once(self, suffix, both):
        self.join(suffix)
        tail = (self.comm, self.device.stream)
        self.library.HcclAllReduce(both, both, c_uint64(COUNT), c_int32(FLOAT32), c_int32(SUM), *tail)
        self.device.synchronize()

    def mappings(self):
        """A hundred communicators, one after the other: what they have mapped goes with them."""
        both = self.device.put(numpy.ones(COUNT, "float32"))
        before, within, after = self.mapped(), set(), set()
        for each in range(100):
            self.meet_once(str(each), both)
            within.add(self.mapped() - before)
            self.library.HcclCommDestroy(self.comm)
            after.add(self.mapped_soon(before) - before)
        print("MAPPED", within, after)
        assert after == {0} and len(within) == 1 and min(within) >= 2  # a board and the peer's memory

    def outlives(self):
        """Peers that come and are killed: their memory goes with the communicator."""
        both = self.device.put(numpy.ones(COUNT, "float32"))
        before, after = self.mapped(), set()
        self.size = 2
        for each in range(5):
            peer = subprocess.Popen([sys.executable, __file__, f"{self.root}{each}", "2", "1", "is_killed"])
            self.meet_once(str(each), both)
            assert self.mapped() > before
            assert "has ended" in self.fails(self.check).text
            assert peer.wait(10) == -signal.SIGKILL
            self.library.HcclCommDestroy(self.comm)
            after.add(self.mapped_soon(before) - before)
        assert after == {0}, after

    def is_killed(self):
        self.meet_once("", self.device.put(numpy.ones(COUNT, "float32")))
        os.kill(os.getpid(), signal.SIGKILL)

    def few_descriptors(self):
        """The first communicator fails where descriptors run out, wherever that is, and keeps none, or the three of the
        process's own socket; then it is made."""
        self.device.put(numpy.ones(4, "float32"))
        folder = Path(os.environ["XDG_RUNTIME_DIR"])
        devices, comm = (c_int32 * 1)(0), c_void_p()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        open_now = [int(each) for each in os.listdir("/proc/self/fd")]
        texts, kept = [], set()
        for limit in range(max(open_now) + 1, max(open_now) + 20):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
            try:
                self.library.HcclCommInitAll(c_uint32(1), devices, byref(comm))
                break
            except HcclError as error:
                texts.append(error.text)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            kept.add(len(os.listdir("/proc/self/fd")) - len(open_now))
            assert not list(folder.rglob("*.new")), texts
        self.comm = comm
        self.size = 1
        self.check()
        print("FAILED AT", len(texts), *texts, sep="\n")
        assert kept == {0, 3} and len(texts) >= 3 and all("Too many open files" in text for text in texts)


def main():
    root, size, rank, what = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    getattr(Rank(root, size, rank), what)()
    print("DONE")


if __name__ == "__main__":
    main()
