# SPDX-License-Identifier: Apache-2.0
"""combine_ddp: all ranks get the mean of the combined gradients, in place of DistributedDataParallel."""

import torch
import torch.distributed as dist

_LEAST, _MOST = 1 << 20, 24 << 20  # elements of a bucket


def check_ranks():
    if not (dist.is_available() and dist.is_initialized()):
        raise RuntimeError("combine_ddp needs ranks: call torch.distributed.init_process_group before amp.initialize")


@torch.no_grad()
def broadcast(model):
    """All ranks start with the parameters and buffers of the first."""
    for tensor in [*model.parameters(), *model.buffers()]:
        dist.broadcast(tensor.detach(), 0)


def check_equal(flats):
    """Ranks whose parameters had gradients in other places would add up unlike ones."""
    sizes = torch.tensor([flat.numel() for flat in flats] or [0], dtype=torch.int32)
    own = torch.zeros(4, dtype=torch.int32)
    own[: len(sizes)] = sizes
    least, most = own.to("npu"), own.to("npu")
    dist.all_reduce(least, dist.ReduceOp.MIN)
    dist.all_reduce(most, dist.ReduceOp.MAX)
    if not torch.equal(least.cpu(), most.cpu()):
        raise RuntimeError(
            "combine_ddp: the ranks have gradients of different parameters "
            f"(buffers of {least.tolist()} to {most.tolist()} elements); use DistributedDataParallel for such models"
        )


def mean(flats, replica_count):
    """The buffers' mean over the ranks, in buckets that are under way together."""
    size = dist.get_world_size()
    work = []
    for flat in flats:
        flat.div_(size)
        bucket = max(min(flat.numel() // replica_count, _MOST), _LEAST)
        work += [dist.all_reduce(part, async_op=True) for part in flat.split(bucket)]
    for part in work:
        part.wait()
