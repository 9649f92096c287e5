# SPDX-License-Identifier: Apache-2.0
"""Trains a small network that has a bit of everything that hooks of modules could disturb, and prints the bits."""

import hashlib

import torch
import torch_npu  # noqa: F401
from torch.utils.checkpoint import checkpoint

STEPS = 5


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.attention = torch.nn.LayerNorm(width), torch.nn.MultiheadAttention(width, 2, batch_first=True)
        self.up, self.act, self.down = (
            torch.nn.Linear(width, 64),
            torch.nn.ReLU(inplace=True),
            torch.nn.Linear(64, width),
        )

    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return Double.apply(x + self.down(self.act(self.up(x))))


class Network(torch.nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.layers = torch.nn.ModuleList(Block(width) for _ in range(3))
        self.head, self.dropout = torch.nn.Linear(width, 4), torch.nn.Dropout(0.1)

    def forward(self, x):
        x = self.layers[0](x)
        for layer in self.layers[1:]:
            x = checkpoint(layer, x, use_reentrant=False)
        return self.head(self.dropout(x).mean(1))


def train():
    network, criterion = Network().npu(), torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3)
    for step in range(STEPS):
        x, wanted = torch.randn(8, 6, 32).npu(), torch.randint(4, (8,)).npu()
        loss = criterion(network(x), wanted) + network.head.weight.square().sum()
        loss.backward(retain_graph=step == 1)
        if step == 1:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return [loss, *network.parameters()]


if __name__ == "__main__":
    torch.manual_seed(7)
    digest = hashlib.sha256()
    for one in train():
        digest.update(one.detach().cpu().numpy().tobytes())
    print(digest.hexdigest())
