# SPDX-License-Identifier: Apache-2.0
"""torch-npu beside the CUDA build of torch, the only one on PyPI. From 2.13.0 on both enter the same names of allocator
options into a set of torch's, which ends the process; adapters/torch gives torch-npu a set of its own."""

import ctypes
import mmap
import sys

from anynpu.library import place

ENTERS = b"getMutableKeys"  # the function of torch through which names are entered


def mentions(path, name):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return text.find(name) >= 0


def collides():
    """True where the installed torch and torch-npu both enter names."""
    packages = [place.package_folder(name) for name in ("torch", "torch_npu")]
    files = ("lib/libc10_cuda.so", "lib/libtorch_npu.so")
    paths = [package / file for package, file in zip(packages, files, strict=True) if package]
    return len(paths) == 2 and all(path.exists() and mentions(path, ENTERS) for path in paths)


class Finder:
    """Waits for torch-npu's library: by then torch's own are bound to torch's set, and stay so."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torch_npu._C":
            sys.meta_path.remove(Finder)
            ctypes.CDLL(str(place.libraries() / "libanynpu_torch.so"), ctypes.RTLD_GLOBAL)
        return None


def keep_apart():
    if collides():
        sys.meta_path.insert(0, Finder)
