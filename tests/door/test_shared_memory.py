# SPDX-License-Identifier: Apache-2.0
"""Device memory that two processes share by a key of aclrtIpcMemGetExportKey."""

import ctypes
import os
import subprocess
import sys
from ctypes import byref, c_char_p, c_size_t, c_uint64, c_void_p
from pathlib import Path

import pytest

H2D, D2H = 1, 2
KEY_BYTES = 65


class Library:
    def __init__(self):
        self.core = ctypes.CDLL(str(Path(os.environ["ANYNPU_LIBRARY"]).parent / "libascendcl.so"))
        self.core.aclGetRecentErrMsg.restype = c_char_p
        self("aclrtSetDevice", 0)

    def __call__(self, function, *arguments, code=0):
        got = getattr(self.core, function)(*arguments)
        text = (self.core.aclGetRecentErrMsg() or b"").decode()
        assert got == code, f"{function} gave {got}: {text}"
        return text

    def allocate(self, size):
        memory = c_void_p()
        self("aclrtMalloc", byref(memory), c_size_t(size), 0)
        return memory

    def read(self, memory, size):
        out = ctypes.create_string_buffer(size)
        self("aclrtMemcpy", out, c_size_t(size), memory, c_size_t(size), D2H)
        return out.raw

    def write(self, memory, data):
        self("aclrtMemcpy", memory, c_size_t(len(data)), data, c_size_t(len(data)), H2D)

    def export(self, memory, size, flags=1):
        key = ctypes.create_string_buffer(KEY_BYTES)
        self("aclrtIpcMemGetExportKey", memory, c_size_t(size), key, c_size_t(KEY_BYTES), c_uint64(flags))
        return key.value

    def open(self, key, code=0):
        memory = c_void_p()
        return memory, self("aclrtIpcMemImportByKey", byref(memory), c_char_p(key), c_uint64(0), code=code)


def other_process(key):
    """What the importer does: reads, adds one to each byte, and closes; a range past the end is refused."""
    library = Library()
    memory, _ = library.open(key)
    again, _ = library.open(key)
    assert again.value == memory.value
    data = library.read(memory, 16)
    library.write(memory, bytes(byte + 1 for byte in data))
    assert "block" in library("aclrtMemset", memory, c_size_t(17), 0, c_size_t(17), code=107000)
    library("aclrtIpcMemClose", c_char_p(key))
    assert library.read(memory, 16) != data  # one import is left
    library("aclrtIpcMemClose", c_char_p(key))
    library("aclrtIpcMemClose", c_char_p(key), code=107000)
    library("aclrtMemset", memory, c_size_t(1), 0, c_size_t(1), code=107000)
    sys.stdout.write(data.hex())


def in_other_process(key):
    command = [sys.executable, __file__, key.decode()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def library():
    return Library()


@pytest.mark.parametrize("offset", [0, 512, 4096 + 520])
def test_two_processes_see_the_same_memory(library, offset):
    block = library.allocate(3 * 4096)
    part = c_void_p(block.value + offset)
    library.write(block, bytes(3 * 4096))
    library.write(part, bytes(range(16)))
    key = library.export(part, 16)
    assert 0 < len(key) < KEY_BYTES
    done = in_other_process(key)
    assert (done.returncode, done.stdout) == (0, bytes(range(16)).hex()), done.stderr
    around = library.read(block, 3 * 4096)
    assert around[offset : offset + 16] == bytes(range(1, 17))
    assert not any(around[:offset] + around[offset + 16 :])
    library("aclrtIpcMemClose", c_char_p(key))
    assert "names no memory" in library("aclrtIpcMemClose", c_char_p(key), code=107000)
    library("aclrtFree", block)


def test_wrong_keys_and_ranges_are_refused(library):
    block = library.allocate(512)
    key = library.export(block, 512, flags=0)
    pid = (ctypes.c_int32 * 2)(os.getpid(), -1)
    library("aclrtIpcMemSetImportPid", c_char_p(key), pid, c_size_t(1))
    assert "pid[1] is -1" in library("aclrtIpcMemSetImportPid", c_char_p(key), pid, c_size_t(2), code=107000)
    library("aclrtIpcMemSetImportPid", c_char_p(b"anynpu-1-2-3-4"), pid, c_size_t(1), code=107000)
    for wrong in (
        b"",
        b"key",
        b"anynpu-1-0-0-1",
        b"anynpu-%x-0-0-10" % os.getpid(),
        key[:-1] + b"ffffffffff",
    ):
        assert "names no memory" in library.open(wrong, code=107000)[1]
    buffer = ctypes.create_string_buffer(KEY_BYTES)
    call = "aclrtIpcMemGetExportKey"
    library(call, block, c_size_t(513), buffer, c_size_t(KEY_BYTES), c_uint64(0), code=107000)
    library(call, buffer, c_size_t(8), buffer, c_size_t(KEY_BYTES), c_uint64(0), code=107000)
    assert "len is 64" in library(call, block, c_size_t(8), buffer, c_size_t(64), c_uint64(0), code=107000)
    library(call, block, c_size_t(8), buffer, c_size_t(KEY_BYTES), c_uint64(2), code=107000)
    library("aclrtIpcMemClose", c_char_p(key))
    library("aclrtFree", block)


def test_memory_of_a_process_that_has_ended_is_gone(library):
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_shared_memory as t; l = t.Library(); "
        "print(l.export(l.allocate(64), 64).decode())"
    )
    done = subprocess.run([sys.executable, "-c", program, str(Path(__file__).parent)], capture_output=True, text=True,
                          timeout=120, check=True)  # fmt: skip
    assert "names no memory" in library.open(done.stdout.strip().encode(), code=107000)[1]


if __name__ == "__main__":
    other_process(sys.argv[1].encode())
