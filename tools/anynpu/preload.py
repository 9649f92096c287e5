# SPDX-License-Identifier: Apache-2.0
"""Started by anynpu-preload.pth in every Python process, so it must stay small: when torch_npu is first looked for and
our libraries are not in the folder its RPATH names (editable install, another site folder), opens them beforehand; the
loader then meets the names it wants as already loaded."""

import sys


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torch_npu":
            sys.meta_path.remove(Finder)
            load_where_rpath_cannot()
        return None


def load_where_rpath_cannot():
    import ctypes

    from anynpu import place

    folder = place.rpath_folder()
    if folder is not None and not place.is_ours(folder / "libascendcl.so"):
        for path in place.vendor_libraries(place.libraries()):
            ctypes.CDLL(str(path), ctypes.RTLD_LOCAL)


sys.meta_path.insert(0, Finder)
