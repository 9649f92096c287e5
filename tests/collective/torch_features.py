# SPDX-License-Identifier: Apache-2.0
"""What torch.distributed offers, on one rank: torch_features.py hccl|gloo. Prints a JSON line of {feature: numbers}.

The same program runs with the vendor's plug-in on NPUs and with torch's own gloo on the CPU; both must give the same.
"""

import contextlib
import json
import os
import sys
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

warnings.filterwarnings("ignore")
RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
FEATURES = []


def feature(function):
    FEATURES.append(function)
    return function


def device():
    return torch.device("npu", RANK) if BACKEND == "hccl" else torch.device("cpu")


def ids():
    return [RANK] if BACKEND == "hccl" else None


def mine(*shape, scale=1.0):
    """Numbers of this rank, equal on all devices."""
    generator = torch.Generator().manual_seed(1000 + RANK)
    return (torch.randn(*shape, generator=generator) * scale).to(device())


def mlp():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to(device())


def numbers(*tensors):
    return [value for tensor in tensors for value in tensor.detach().double().cpu().flatten().tolist()]


def trained(model, optimizer=None, steps=3):
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for step in range(steps):
        loss = (model(mine(4, 8) + step) - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return numbers(*losses)


@feature
def reductions():
    out = []
    for op in (dist.ReduceOp.SUM, dist.ReduceOp.MAX, dist.ReduceOp.MIN, dist.ReduceOp.PRODUCT):
        for kind in (torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8):
            tensor = (mine(2000, scale=3).abs() + 1).to(kind)
            dist.all_reduce(tensor, op=op)
            out.append(tensor[:5])
    return numbers(*out)


@feature
def gathers_and_scatters():
    gathered = [torch.zeros(3, device=device()) for _ in range(SIZE)]
    dist.all_gather(gathered, mine(3))
    whole = torch.zeros(SIZE * 700, device=device())
    dist.all_gather_into_tensor(whole, mine(700))
    part = torch.zeros(2, device=device())
    dist.scatter(part, [torch.full((2,), float(i), device=device()) for i in range(SIZE)] if RANK == 0 else None, 0)
    reduced = mine(1500)
    dist.reduce(reduced, SIZE - 1)
    sent = mine(9000)
    dist.broadcast(sent, SIZE - 1)
    return numbers(*gathered, whole, part, *([reduced] if RANK == SIZE - 1 else []), sent[:9])


@feature
def objects():
    lists = [{"rank": RANK}] if RANK == 0 else [None]
    dist.broadcast_object_list(lists, 0)
    gathered = [None] * SIZE
    dist.all_gather_object(gathered, "x" * (RANK + 1))
    return [lists[0]["rank"], *map(len, gathered)]


@feature
def sub_groups():
    groups = [dist.new_group([rank]) for rank in range(SIZE)]
    ends = dist.new_group([0, SIZE - 1])
    tensor = mine(5)
    dist.all_reduce(tensor, group=groups[RANK])
    if RANK in (0, SIZE - 1):
        dist.all_reduce(tensor, group=ends)
    return numbers(tensor)


@feature
def coalescing():
    tensors = [mine(3), mine(2000)]
    together = dist._coalescing_manager(device=device()) if BACKEND == "hccl" else contextlib.nullcontext()
    with together:  # gloo has none
        for tensor in tensors:
            dist.all_reduce(tensor)
    return numbers(tensors[0], tensors[1][:9])


@feature
def messages():
    received = torch.zeros(3000, device=device())
    operations = [
        dist.P2POp(dist.isend, mine(3000), (RANK + 1) % SIZE),
        dist.P2POp(dist.irecv, received, (RANK - 1) % SIZE),
    ]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    pair = torch.zeros(4, device=device())
    if RANK == 0:
        dist.send(mine(4), 1)
    elif RANK == 1:
        dist.recv(pair, 0)
    return numbers(received[:9], pair)


@feature
def data_parallel():
    return trained(DistributedDataParallel(mlp(), device_ids=ids()))


@feature
def data_parallel_static_graph():
    return trained(DistributedDataParallel(mlp(), device_ids=ids(), static_graph=True))


class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.used, self.unused = nn.Linear(8, 4), nn.Linear(8, 4)

    def forward(self, x):
        return self.used(x)


@feature
def data_parallel_with_unused_parameters():
    return trained(DistributedDataParallel(Unused().to(device()), device_ids=ids(), find_unused_parameters=True))


@feature
def gradient_accumulation():
    model = DistributedDataParallel(mlp(), device_ids=ids())
    with model.no_sync():
        model(mine(4, 8)).pow(2).sum().backward()
    model(mine(4, 8) + 1).pow(2).sum().backward()
    return numbers(*[parameter.grad for parameter in model.parameters()])[::7]


@feature
def uneven_inputs():
    model = DistributedDataParallel(mlp(), device_ids=ids())
    with model.join():
        for step in range(2 + RANK):
            model(mine(4, 8) + step).pow(2).sum().backward()
    return numbers(next(model.parameters()).grad)[:9]


@feature
def zero_redundancy():
    model = DistributedDataParallel(mlp(), device_ids=ids())
    return trained(model, ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.01))


@feature
def fsdp():
    if BACKEND == "gloo":  # does not shard on the CPU; whole parameters give the same losses
        return data_parallel()
    return trained(FullyShardedDataParallel(mlp(), device_id=device()))


@feature
def fsdp_fully_shard():
    if BACKEND == "gloo":
        return data_parallel()
    model = mlp()
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer)
    fully_shard(model)
    return trained(model)


def main():
    if BACKEND == "hccl":
        torch.npu.set_device(RANK)
    dist.init_process_group(BACKEND)
    out = {}
    for each in FEATURES:
        out[each.__name__] = each()
        dist.barrier()
    dist.destroy_process_group()
    print("RESULT " + json.dumps(out), flush=True)


if __name__ == "__main__":
    BACKEND = sys.argv[1]
    if BACKEND == "hccl":
        import torch_npu  # noqa: F401
    main()
