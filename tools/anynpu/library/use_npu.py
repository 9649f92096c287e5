# SPDX-License-Identifier: Apache-2.0
"""torch.autograd.profiler.profile(use_npu=True), as the vendor's porting guide writes it for the torch of its time; the
torch of today calls that use_device="npu"."""

import functools
import sys


def begin():
    """torch_npu has imported torch."""
    if "torch.autograd.profiler" not in sys.modules:
        return
    profile = sys.modules["torch.autograd.profiler"].profile
    initialize = profile.__init__

    @functools.wraps(initialize)
    def __init__(self, *arguments, use_npu=False, **named):
        if use_npu:
            named.setdefault("use_device", "npu")
        initialize(self, *arguments, **named)

    profile.__init__ = __init__
