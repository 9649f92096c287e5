# SPDX-License-Identifier: Apache-2.0
"""One rank of a training with apex; leaves the weights after three steps, which all ranks have alike."""

import sys

import network
import torch
import torch.distributed as dist
from apex import amp, parallel


def trained(way, level):
    rank, size = dist.get_rank(), dist.get_world_size()
    model = network.made(network.Residual, seed=rank if way == "combine_ddp" else 0)
    if way == "syncbn":
        model = parallel.convert_syncbn_model(model, parallel.create_syncbn_process_group(size))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    combine = {"combine_ddp": True} if way == "combine_ddp" else {}
    model, optimizer = amp.initialize(model, optimizer, opt_level=level, loss_scale=128.0, verbosity=0, **combine)
    if way == "options":
        model = parallel.DistributedDataParallel(model, allreduce_always_fp32=True, gradient_predivide_factor=2.0)
    elif way not in ("combine_ddp", "reducer"):
        model = parallel.DistributedDataParallel(model, delay_allreduce=True)
    reducer = parallel.Reducer(model) if way == "reducer" else None
    if way != "syncbn":
        model.eval()  # batch norm sees other batches than one process does
    inputs, labels = network.batch(network.Residual)
    for _ in range(3):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs[rank::size]), labels[rank::size])
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        if reducer:
            reducer.reduce()
        optimizer.step()
    return torch.cat([p.detach().float().flatten() for p in amp.master_params(optimizer)])


def unlike():
    """Ranks that learn different weights, which combine_ddp cannot add up."""
    one, two = (torch.nn.Parameter(torch.ones(64 * (i + 1)).npu()) for i in range(2))
    model = torch.nn.ParameterList([one, two])
    model, optimizer = amp.initialize(model, torch.optim.SGD([one, two], lr=0.1), combine_ddp=True, verbosity=0)
    with amp.scale_loss(one.sum() if dist.get_rank() else two.sum(), optimizer) as scaled:
        scaled.backward()


def leave(way, level):
    weights = trained(way, level)
    others = [torch.empty_like(weights) for _ in range(dist.get_world_size())]
    dist.all_gather(others, weights)
    assert all(torch.equal(weights, other) for other in others)
    if dist.get_rank() == 0:
        torch.save(weights.cpu(), f"{way}-{level}.pt")


def main():
    dist.init_process_group("hccl")
    torch.npu.set_device(dist.get_rank())
    for way_and_level in sys.argv[1:]:
        leave(*way_and_level.split("-"))
    try:
        unlike()
    except RuntimeError as error:
        print("refused:", error, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
