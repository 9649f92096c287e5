# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training, step for step against a run in one process on the joined batch.

torch_digits.py reference FILE: trains on the CPU and writes parameters, loss and gradients of every step.
torch_digits.py FILE: as one rank on an NPU takes its share of each batch, with the parameters of the reference put back
before each step; prints the largest differences.
"""

import os
import sys

import torch
from sklearn.datasets import load_digits
from torch import nn

BATCH, STEPS = 64, 10


def model():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 32), nn.ReLU(),
        nn.Linear(32, 10),
    )  # fmt: skip


def batches():
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16
    labels = torch.tensor(labels)
    for step in range(STEPS):
        part = slice(step * BATCH, (step + 1) * BATCH)
        yield images[part], labels[part]


def loss_of(net, images, labels):
    return nn.functional.cross_entropy(net(images), labels)


def reference(path):
    torch.set_num_threads(1)
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    steps = []
    for images, labels in batches():
        state = {name: tensor.clone() for name, tensor in net.state_dict().items()}
        loss = loss_of(net, images, labels)
        optimizer.zero_grad()
        loss.backward()
        steps.append((state, loss.item(), [parameter.grad.clone() for parameter in net.parameters()]))
        optimizer.step()
    torch.save(steps, path)


def rank(path):
    import torch.distributed as dist
    import torch_npu  # noqa: F401

    number, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device("npu", number)
    torch.npu.set_device(number)
    dist.init_process_group("hccl")
    net = model().to(device)
    parallel = nn.parallel.DistributedDataParallel(net, device_ids=[number])
    worst_loss = worst_gradient = 0.0
    for (images, labels), (state, loss, gradients) in zip(batches(), torch.load(path), strict=True):
        net.load_state_dict(state)
        share = slice(number * BATCH // size, (number + 1) * BATCH // size)
        parallel.zero_grad()
        own = loss_of(parallel, images[share].to(device), labels[share].to(device))
        own.backward()
        mean = own.detach().clone()
        dist.all_reduce(mean, op=dist.ReduceOp.AVG)
        worst_loss = max(worst_loss, abs(mean.item() - loss) / loss)
        for parameter, wanted in zip(net.parameters(), gradients, strict=True):
            difference = (parameter.grad.cpu() - wanted).norm() / wanted.norm()
            worst_gradient = max(worst_gradient, difference.item())
    dist.destroy_process_group()
    print(f"WORST loss {worst_loss:.2e} gradient {worst_gradient:.2e}", flush=True)


if __name__ == "__main__":
    reference(sys.argv[2]) if sys.argv[1] == "reference" else rank(sys.argv[1])
