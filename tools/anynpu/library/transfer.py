# SPDX-License-Identifier: Apache-2.0
"""Completes torch-npu's transfer_to_npu, which sends the calls to CUDA of a script written for a GPU to the NPU.

What torch-npu leaves out or replaces by something that can do less (see `cuda_calls`) is mended as soon as its module
has been imported. Where the environment requested the transfer (`anynpu run`), the module's warnings are dropped: they
repeat what the user has just asked for."""

import os
import sys
import warnings

from anynpu.library import after_import

TRANSFER = "torch_npu.contrib.transfer_to_npu"


class Finder:
    """Waits for the import of transfer_to_npu, by the environment's TORCH_TRANSFER_TO_NPU or by the script."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != TRANSFER:
            return None
        sys.meta_path.remove(Finder)
        found = after_import.spec(name, path, ["anynpu.library.cuda_calls"])
        if found is not None and os.environ.get("TORCH_TRANSFER_TO_NPU") == "1":
            found.loader.exec_module = without_its_warnings(found.loader.exec_module, found.origin)
        return found


def without_its_warnings(execute, origin):
    """`execute(module)`, of which only the warnings of other files are shown."""

    def exec_module(module):
        with warnings.catch_warnings(record=True) as caught:
            execute(module)
        for one in caught:
            if one.filename != origin:
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)

    return exec_module


def prepare():
    sys.meta_path.insert(0, Finder)
