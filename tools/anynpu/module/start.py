# SPDX-License-Identifier: Apache-2.0
"""Begins to note down modules when torch_npu is there. Imported only where ANYNPU_MODULES is set."""

import ctypes

from anynpu.library import door


def noting():
    """The function of the library, called without letting another thread run meanwhile: it takes a tenth of a us."""
    declared = door.running().anynpu_profile_module
    function = ctypes.PyDLL(None, handle=door.running()._handle).anynpu_profile_module
    function.restype, function.argtypes = declared.restype, declared.argtypes
    return function


def begin():
    from anynpu.module.hooks import Hooks  # it needs torch, which is there now

    Hooks(noting()).begin()
