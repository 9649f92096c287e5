# SPDX-License-Identifier: Apache-2.0
"""The C functions that collectives need, over ctypes, and ranks as processes of their own."""

import ctypes
import os
import select
import subprocess
import sys
import time
from ctypes import byref, c_char_p, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy

LIBRARIES = Path(os.environ["ANYNPU_LIBRARY"]).parent
ROOT_INFO_BYTES = 4108
H2D, D2H = 1, 2

# numpy's names by the numbers of HcclDataType; bfloat16 is carried as bits.
DTYPES = {
    "int8": 0,
    "int16": 1,
    "int32": 2,
    "float16": 3,
    "float32": 4,
    "int64": 5,
    "uint64": 6,
    "uint8": 7,
    "uint16": 8,
    "uint32": 9,
    "float64": 10,
}
SUM, PROD, MAX, MIN = range(4)


class HcclError(RuntimeError):
    def __init__(self, function, code, text):
        super().__init__(f"{function} gave {code}: {text}")
        self.code = code
        self.text = text


class Item(ctypes.Structure):
    _fields_ = [
        ("kind", c_int32),
        ("buffer", c_void_p),
        ("count", c_uint64),
        ("dtype", c_int32),
        ("rank", c_uint32),
    ]


class Library:
    """Both libraries as a client finds them; every call is checked."""

    def __init__(self):
        self.hccl = ctypes.CDLL(str(LIBRARIES / "libhccl.so"))
        self.acl = ctypes.CDLL(str(LIBRARIES / "libascendcl.so"))
        self.acl.aclGetRecentErrMsg.restype = c_char_p

    def __getattr__(self, name):
        source = self.hccl if name.startswith("Hccl") else self.acl
        function = getattr(source, name)

        def call(*arguments):
            code = function(*arguments)
            if code != 0:
                raise HcclError(name, code, (self.acl.aclGetRecentErrMsg() or b"").decode())

        return call


class Device:
    """One device of this process with a stream; arrays go there and back."""

    def __init__(self, library, number):
        self.library = library
        self.number = number
        library.aclrtSetDevice(c_int32(number))
        self.stream = c_void_p()
        library.aclrtCreateStream(byref(self.stream))

    def allocate(self, size):
        pointer = c_void_p()
        self.library.aclrtMalloc(byref(pointer), c_size_t(max(size, 1)), c_int32(0))
        return pointer

    def copy_in(self, pointer, array):
        array = numpy.ascontiguousarray(array)
        if array.nbytes:
            self.library.aclrtMemcpy(
                pointer, c_size_t(array.nbytes), array.ctypes.data_as(c_void_p), c_size_t(array.nbytes), c_int32(H2D)
            )

    def put(self, array):
        pointer = self.allocate(array.nbytes)
        self.copy_in(pointer, array)
        return pointer

    def get(self, pointer, count, dtype):
        out = numpy.empty(count, dtype)
        if out.nbytes:
            self.library.aclrtMemcpy(
                out.ctypes.data_as(c_void_p), c_size_t(out.nbytes), pointer, c_size_t(out.nbytes), c_int32(D2H)
            )
        return out

    def free(self, *pointers):
        for pointer in pointers:
            self.library.aclrtFree(pointer)

    def synchronize(self):
        self.library.aclrtSynchronizeStream(self.stream)


def join(library, root_file, size, rank):
    """Rank 0 writes the root info to the file, the others wait for it."""
    root_file = Path(root_file)
    info = ctypes.create_string_buffer(ROOT_INFO_BYTES)
    if rank == 0:
        library.HcclGetRootInfo(info)
        part = root_file.with_suffix(".part")
        part.write_bytes(info.raw)
        part.rename(root_file)
    else:
        until = time.monotonic() + 60
        while not root_file.exists():
            assert time.monotonic() < until, "rank 0 gave no root info"
            select.select([], [], [], 0.005)  # libfaketime fails in time.sleep now and then
        info.raw = root_file.read_bytes()
    comm = c_void_p()
    library.HcclCommInitRootInfo(c_uint32(size), info, c_uint32(rank), byref(comm))
    return comm


def start(program, folder, size, *arguments, environment=None):
    """`program` (a file beside this one) as `size` processes: program ROOT_FILE SIZE RANK arguments…"""
    here = Path(__file__).parent
    return [
        subprocess.Popen(
            [sys.executable, here / program, str(Path(folder) / "root"), str(size), str(rank), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": str(here), "ANYNPU_THREADS": "1", **(environment or {})},
        )
        for rank in range(size)
    ]


def outputs(processes, seconds=120):
    """(exit code, output) of each; none may take longer."""
    until = time.monotonic() + seconds
    out = []
    try:
        for process in processes:
            text, _ = process.communicate(timeout=max(0.1, until - time.monotonic()))
            out.append((process.returncode, text))
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
    return out
