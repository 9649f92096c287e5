# SPDX-License-Identifier: Apache-2.0
"""What the rank scripts of products that meet other ranks share."""

import numpy
import torch
import torch.distributed as dist


def name_of(group):
    return group._get_backend(torch.device("npu")).get_hccl_comm_name(dist.get_rank())


def wide(tensor):
    return tensor.cpu().double().numpy()


def near(label, got, want, terms, roundings):
    """Within one unit of the type for each rounding, of the largest sum of the terms' absolute values."""
    unit = torch.finfo(got.dtype).eps / 2
    off = numpy.abs(wide(got) - want).max()
    assert got.shape == want.shape, f"{label}: {tuple(got.shape)}, expected {want.shape}"
    limit = roundings * unit * max(numpy.abs(terms).max(), 1.0)
    assert off <= limit, f"{label}: off by {off:.3g}, allowed {limit:.3g}"


def tell_refusals(calls):
    """A line for each call by its name: why it was refused."""
    for name, call in calls.items():
        try:
            call()
            torch.npu.synchronize()
        except RuntimeError as error:
            print(f"REFUSED {name}:", " ".join(str(error).split()), flush=True)
        else:
            print(f"REFUSED {name}: nothing", flush=True)
