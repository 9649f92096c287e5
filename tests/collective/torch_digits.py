# SPDX-License-Identifier: Apache-2.0
"""Training on several ranks, step for step against a run in one process on the joined batch.

torch_digits.py reference FILE: trains on the CPU and writes parameters, loss and gradients of every step.
torch_digits.py FILE WAY…: as one rank on an NPU takes its share of each batch, with the parameters of the reference put
back before each step; prints the largest differences of each way (ddp, fsdp, fully_shard) and net (ddp: cnn alone).
Then trains on its own from the first parameters; prints the largest difference of a loss, divided by its step's number.
torch_digits.py FILE spawn RANKS WAY…: the same, with torch.multiprocessing.spawn making the ranks.
"""

import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

BATCH, STEPS = 64, 10
LAYERS = (nn.Conv2d, nn.Linear)


def cnn():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 32), nn.ReLU(),
        nn.Linear(32, 10),
    )  # fmt: skip


def mlp():
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))


NETS = {"cnn": cnn, "mlp": mlp}


def batches():
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16
    labels = torch.tensor(labels)
    for step in range(STEPS):
        part = slice(step * BATCH, (step + 1) * BATCH)
        yield images[part], labels[part]


def loss_of(net, images, labels):
    return nn.functional.cross_entropy(net(images), labels)


def optimizer_of(net):
    return torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)


def trained(net):
    """Of each step: the batch, and parameters, loss and gradients on it."""
    optimizer = optimizer_of(net)
    for images, labels in batches():
        parameters = [parameter.detach().clone() for parameter in net.parameters()]
        loss = loss_of(net, images, labels)
        optimizer.zero_grad()
        loss.backward()
        yield images, labels, parameters, loss.item(), [parameter.grad.clone() for parameter in net.parameters()]
        optimizer.step()


def reference(path):
    torch.set_num_threads(1)
    torch.save({name: list(trained(net())) for name, net in NETS.items()}, path)


class Whole:
    """A net under DDP: every rank has all parameters and gradients."""

    def __init__(self, net, device):
        self.run = nn.parallel.DistributedDataParallel(net.to(device), device_ids=[device.index])

    def put(self, parameters):
        with torch.no_grad():
            for own, wanted in zip(self.run.parameters(), parameters, strict=True):
                own.copy_(wanted)

    def gradients(self):
        return [parameter.grad.cpu() for parameter in self.run.parameters()]


class Flat(Whole):
    """FSDP's first form, which shards flattened parameters."""

    def __init__(self, net, device):
        policy = ModuleWrapPolicy(LAYERS)
        self.run = FullyShardedDataParallel(net, device_id=device, auto_wrap_policy=policy, use_orig_params=True)

    def put(self, parameters):
        with FullyShardedDataParallel.summon_full_params(self.run):
            super().put(parameters)

    def gradients(self):
        with FullyShardedDataParallel.summon_full_params(self.run, with_grads=True, writeback=False):
            return super().gradients()


class Sharded(Whole):
    """fully_shard, which shards each parameter."""

    def __init__(self, net, device):
        self.run = net.to(device)
        for layer in filter(lambda layer: isinstance(layer, LAYERS), net):
            fully_shard(layer)
        fully_shard(net)

    def put(self, parameters):
        whole = zip(self.run.parameters(), parameters, strict=True)
        shards = [
            torch.distributed.tensor.distribute_tensor(
                wanted.to(own.device), own.device_mesh, own.placements, src_data_rank=None
            )
            for own, wanted in whole
        ]
        super().put(shards)

    def gradients(self):
        return [parameter.grad.full_tensor().cpu() for parameter in self.run.parameters()]


WAYS = {"ddp": Whole, "fsdp": Flat, "fully_shard": Sharded}


def step(parallel, images, labels, device):
    """The mean loss of all ranks; each has done its share."""
    number, size = dist.get_rank(), dist.get_world_size()
    share = slice(number * BATCH // size, (number + 1) * BATCH // size)
    parallel.run.zero_grad()
    own = loss_of(parallel.run, images[share].to(device), labels[share].to(device))
    own.backward()
    mean = own.detach().clone()
    dist.all_reduce(mean, op=dist.ReduceOp.AVG)
    return mean.item()


def compare(parallel, steps, device):
    """The largest differences of the mean loss and of the gradients."""
    worst_loss = worst_gradient = 0.0
    for images, labels, parameters, loss, gradients in steps:
        parallel.put(parameters)
        worst_loss = max(worst_loss, abs(step(parallel, images, labels, device) - loss) / loss)
        for found, wanted in zip(parallel.gradients(), gradients, strict=True):
            worst_gradient = max(worst_gradient, ((found - wanted).norm() / wanted.norm()).item())
    return worst_loss, worst_gradient


def train(parallel, steps, device):
    """Without putting anything back: the optimizer's state is of the parts that a rank has."""
    parallel.put(steps[0][2])
    optimizer = optimizer_of(parallel.run)
    worst = 0.0
    for number, (images, labels, _, loss, _) in enumerate(steps, start=1):
        worst = max(worst, abs(step(parallel, images, labels, device) - loss) / loss / number)
        optimizer.step()
    return worst


def join():
    """As torch's own variables say. Without them the vendor's decide (a rank table, CM_*), which `hccl` reads."""
    import torch_npu  # noqa: F401

    number = int(os.environ.get("LOCAL_RANK") or os.environ.get("ASCEND_DEVICE_ID") or 0)
    torch.npu.set_device(number)
    if "RANK" in os.environ:
        dist.init_process_group("hccl")
    elif "LOCAL_RANK" in os.environ:  # the loops of the vendor's guide: as many processes as there are NPUs
        dist.init_process_group("hccl", rank=number, world_size=torch.npu.device_count())
    else:
        import hccl
        from hccl.manage import api

        hccl.init()
        dist.init_process_group("hccl", rank=api.get_rank_id(), world_size=api.get_rank_size())
    return torch.device("npu", number)


def other_groups(device):
    """A group of a part, messages, and a group in another order: communicators besides that of all ranks."""
    rank, last = dist.get_rank(), dist.get_world_size() - 1
    alone = [dist.new_group([each]) for each in range(last + 1)][rank]
    tensor = torch.full((3,), rank + 1.0, device=device)
    dist.all_reduce(tensor, group=alone)
    if rank == 0 and last > 0:
        dist.send(tensor, last)
    elif rank == last and last > 0:
        dist.recv(tensor, 0)
    assert tensor.tolist() == [1.0 if rank == last else rank + 1.0] * 3, tensor


def rank(path, ways):
    device = join()
    reference = torch.load(path)
    for way in ways:
        for name in ["cnn"] if way == "ddp" else NETS:
            parallel = WAYS[way](NETS[name](), device)
            loss, gradient = compare(parallel, reference[name], device)
            free = train(parallel, reference[name], device)
            line = f"WORST {way} {name} loss {loss:.2e} gradient {gradient:.2e} free {free:.2e}\n"
            sys.stdout.write(line)  # one write: an unbuffered print makes two, which mix on a shared pipe
            sys.stdout.flush()
    other_groups(device)
    dist.destroy_process_group()


def spawned(number, path, size, ways):
    os.environ |= {"RANK": str(number), "LOCAL_RANK": str(number), "WORLD_SIZE": str(size)}
    rank(path, ways)


if __name__ == "__main__":
    if sys.argv[1] == "reference":
        reference(sys.argv[2])
    elif sys.argv[2] == "spawn":
        torch.multiprocessing.spawn(spawned, (sys.argv[1], int(sys.argv[3]), sys.argv[4:]), nprocs=int(sys.argv[3]))
    else:
        rank(sys.argv[1], sys.argv[2:])
