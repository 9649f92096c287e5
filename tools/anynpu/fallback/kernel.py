# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's dispatcher calls for an operator on the NPU. It says so itself, in a table it prints for people."""

import functools
import re
from dataclasses import dataclass

DENSE = "PrivateUse1"  # the dispatcher's name of torch-npu's backend

OWN = "kernel of torch-npu"
FALLBACK = "fallback to the CPU"
COMPOSITE = "composite"  # made of other operators before autograd sees it
EXPLICIT = "composite below autograd"  # made of other operators by a kernel of PyTorch's
REFUSED = "refused by torch-npu"  # its fallback for sparse tensors
NONE = "none"


@dataclass(frozen=True)
class Kernel:
    kind: str
    source: str  # file and line of its registration, as torch prints them


def kind_of(source, note, key):
    theirs = "torch_npu" in source
    if note == "backend fallback":
        if not theirs or source.startswith("fallthrough"):
            return NONE
        return FALLBACK if key == DENSE else REFUSED
    if theirs:
        return OWN
    return {"math kernel": COMPOSITE, "default backend kernel": EXPLICIT}.get(note, OWN)


def parsed(table, key):
    """The row of `key` in a dispatcher's table."""
    row = re.search(rf"^{key}: (.*) \[([^\]]*)\]$", table, re.MULTILINE)
    if row is None:
        return Kernel(NONE, "")
    where = row[1].removeprefix("registered at ")
    return Kernel(kind_of(where, row[2], key), where)


@functools.cache
def kernel(name, key=DENSE):
    """What runs when the operator `name`, as in aten::add.Tensor, gets tensors of the backend `key`."""
    import torch

    return parsed(torch._C._dispatch_dump_table(name), key)


def key_of(layout):
    """The backend of an NPU tensor of this layout."""
    import torch

    if layout == torch.strided:
        return DENSE
    return "SparsePrivateUse1" if layout == torch.sparse_coo else "SparseCsrPrivateUse1"
