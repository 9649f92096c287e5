# SPDX-License-Identifier: Apache-2.0
"""One of four ranks that train a net cut in parts, against the whole net on the CPU of this process:
torch_parallel.py tensor|pipeline|fsdp_2d. Prints WORST and the largest relative differences of losses and of gradients.

tensor: DTensor's column- and row-wise parallel layers in each half of the ranks, data parallel between the halves;
pipeline: four stages and four micro-batches; fsdp_2d: fully_shard over a mesh of hosts and ranks (replicated between
hosts, sharded within)."""

import os
import sys

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

RANK, LOCAL, SIZE = (int(os.environ[name]) for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"))
BATCH, WIDTH, STEPS = 16, 32, 4


def net():
    torch.manual_seed(0)
    layers = []
    for _ in range(2):
        layers += [nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH)]
    return nn.Sequential(*layers)


def batches():
    draw = torch.Generator().manual_seed(1)
    return [torch.randn(2, BATCH, WIDTH, generator=draw).unbind() for _ in range(STEPS)]


def loss_of(out, wanted):
    return nn.functional.mse_loss(out, wanted)


def whole():
    """Losses of all steps, and the last gradients by name."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for inputs, wanted in batches():
        optimizer.zero_grad()
        loss = loss_of(model(inputs), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: parameter.grad for name, parameter in model.named_parameters()}


def full(tensor):
    return (tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor).cpu()


def data_parallel(model, rows, row, averaged):
    """Trains on this row's part of each batch; gradients are averaged over rows unless the model has done so."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses, part = [], BATCH // rows.size()
    for inputs, wanted in batches():
        optimizer.zero_grad()
        share = slice(row * part, (row + 1) * part)
        loss = loss_of(model(inputs[share].npu()), wanted[share].npu())
        loss.backward()
        for parameter in model.parameters() if not averaged else ():
            local = parameter.grad
            local = local.to_local() if hasattr(local, "to_local") else local
            dist.all_reduce(local, op=dist.ReduceOp.AVG, group=rows.get_group())
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean, op=dist.ReduceOp.AVG, group=rows.get_group())
        losses.append(mean.item())
    return losses, {name: full(parameter.grad) for name, parameter in model.named_parameters()}


def tensor():
    mesh = init_device_mesh("npu", (2, SIZE // 2), mesh_dim_names=("rows", "columns"))
    plan = {name: ColwiseParallel() if name in "03" else RowwiseParallel() for name in ("0", "2", "3", "5")}
    model = parallelize_module(net().npu(), mesh["columns"], plan)
    return data_parallel(model, mesh["rows"], mesh["rows"].get_local_rank(), averaged=False)


def fsdp_2d():
    mesh = init_device_mesh("npu", (2, SIZE // 2), mesh_dim_names=("hosts", "ranks"))
    model = net().npu()
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    everybody = init_device_mesh("npu", (SIZE,))
    return data_parallel(model, everybody, RANK, averaged=True)


def pipeline():
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    layers = list(net())
    cuts = [(0, 1), (1, 3), (3, 4), (4, 6)]
    begin, end = cuts[RANK]
    part = nn.Sequential(*layers[begin:end]).npu()
    stage = PipelineStage(part, RANK, SIZE, torch.device("npu", LOCAL))
    schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=loss_of)
    optimizer = torch.optim.SGD(part.parameters(), lr=0.1)
    losses = []
    for inputs, wanted in batches():
        optimizer.zero_grad()
        own = []
        if RANK == 0:
            schedule.step(inputs.npu())
        elif RANK == SIZE - 1:
            schedule.step(target=wanted.npu(), losses=own)
        else:
            schedule.step()
        optimizer.step()
        mean = torch.stack(own).mean() if own else torch.zeros((), device="npu")
        dist.broadcast(mean, SIZE - 1)
        losses.append(mean.item())
    named = dict(part.named_parameters())
    return losses, {f"{int(name[0]) + begin}{name[1:]}": parameter.grad.cpu() for name, parameter in named.items()}


def main():
    torch.npu.set_device(LOCAL)
    dist.init_process_group("hccl")
    losses, gradients = {"tensor": tensor, "pipeline": pipeline, "fsdp_2d": fsdp_2d}[sys.argv[1]]()
    wanted_losses, wanted = whole()
    loss = max(abs(a - b) / b for a, b in zip(losses, wanted_losses, strict=True))
    gradient = max(((gradients[name] - wanted[name]).norm() / wanted[name].norm()).item() for name in gradients)
    sys.stdout.write(f"WORST loss {loss:.2e} gradient {gradient:.2e} of {len(gradients)}\n")
    sys.stdout.flush()
    dist.destroy_process_group()


main()
