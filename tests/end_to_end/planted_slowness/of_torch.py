# SPDX-License-Identifier: Apache-2.0
"""of_torch.py NAME: a small run that is slow for one reason, which `anynpu profile` has to find first."""

import os
import sys
import time

import torch
import torch_npu  # noqa: F401

STEPS = 40


def train(rows, seconds):
    """A step with `rows` rows, after a batch that takes so long to make."""
    layers = [torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256)]
    network = torch.nn.Sequential(*layers).npu()
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)
    for _ in range(STEPS):
        time.sleep(seconds)
        loss = network(torch.randn(rows, 256).npu()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def nothing():
    train(2048, 0)


def loader():
    train(256, 0.02)


def item():
    """A number is read back before the next operators are queued."""
    x, weight = torch.randn(64, 256).npu(), torch.randn(256, 256).npu() / 16
    total = 0.0
    for _ in range(STEPS * 25):
        x = torch.tanh(x @ weight)
        total += x.mean().item()


def fallback():
    """The NPU has no eigenvalues: torch-npu takes the matrix to the host."""
    x, least = torch.eye(256).npu(), torch.zeros(1).npu()
    for _ in range(STEPS):
        least += torch.linalg.eigvalsh(x)[0]


def tiny():
    """Operators of four elements each, where one over all of them would do."""
    parts = torch.zeros(1024).npu().split(4)
    for _ in range(STEPS):
        for part in parts:
            part.add_(1.0)


class Layer(torch.nn.Module):
    """Adds one, part by part."""

    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        for part in x.split(self.size):
            part.add_(1.0)
        return x


class Layers(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = torch.nn.ModuleList(map(Layer, sizes))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def layer():
    """As tiny, in one layer of a network."""
    model = Layers([1024, 1024, 1024, 4, 1024])
    for _ in range(STEPS):
        model(torch.zeros(1024).npu())


def chain():
    """GELU, written out."""
    x = torch.randn(1024, 1024).npu()
    for _ in range(STEPS):
        y = (x * x * x * 0.044715 + x) * 0.7978845
        x = x * 0.5 * (torch.tanh(y) + 1.0)
    torch.npu.synchronize()


def straggler():
    """Rank 1 computes ten times what rank 0 does; they meet in each step."""
    import torch.distributed as distributed

    torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("hccl")
    x = torch.randn(512, 512).npu() / 16
    for _ in range(STEPS):
        for _ in range(20 if distributed.get_rank() == 1 else 2):
            torch.mm(x, x)
        distributed.all_reduce(x)
    torch.npu.synchronize()
    distributed.destroy_process_group()


if __name__ == "__main__":
    torch.manual_seed(0)
    globals()[sys.argv[1]]()
