# SPDX-License-Identifier: Apache-2.0
"""Started by anynpu-preload.pth in every Python process, so it must stay small. When torch_npu is first looked for:

- where our libraries are not in the folder its RPATH names (editable install, another site folder) it opens them
  beforehand; the loader then meets the names it wants as already loaded;
- TASK_QUEUE_ENABLE becomes 0 unless it is set. torch-npu's own queue hides the launch latency of a card, which a
  software device does not have; without it small operators take half the time, an error carries the line that caused
  it, and nothing after a failed operator is lost."""

import sys


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torch_npu":
            sys.meta_path.remove(Finder)
            prefer_no_queue()
            load_where_rpath_cannot()
        return None


def prefer_no_queue():
    import os

    os.environ.setdefault("TASK_QUEUE_ENABLE", "0")


def load_where_rpath_cannot():
    import ctypes

    from anynpu import place

    folder = place.rpath_folder()
    if folder is not None and not place.is_ours(folder / "libascendcl.so"):
        for path in place.vendor_libraries(place.libraries()):
            ctypes.CDLL(str(path), ctypes.RTLD_LOCAL)


sys.meta_path.insert(0, Finder)
