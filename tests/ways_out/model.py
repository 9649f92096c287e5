# SPDX-License-Identifier: Apache-2.0
"""Two small models, each on the CPU and, with the same weights, on the NPU."""

import copy
import dataclasses

import torch
import torch.nn.functional as F
from torch import nn


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, stride=2), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5),
        )  # fmt: skip

    def forward(self, x):
        return self.features(x).log_softmax(-1)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.wide = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        q, k, v = self.qkv(self.before(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        attended = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2)
        x = x + self.out(attended)
        return x + self.wide(self.between(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        self.blocks = nn.Sequential(Block(32, 4), Block(32, 4))
        self.head = nn.Linear(32, 50)

    def forward(self, tokens):
        return self.head(self.blocks(self.embedding(tokens)))


@dataclasses.dataclass
class Pair:
    cpu: nn.Module
    npu: nn.Module
    x: torch.Tensor

    def near(self, result, factor=4):
        """`result` is what the CPU's model gives, but for roundings."""
        expected = self.cpu(self.x)
        return (result.cpu() - expected).abs().max() <= factor * 2.0**-23 * 8 * expected.abs().max()


def pair(name):
    torch.manual_seed(3)
    made = {"cnn": Cnn, "transformer": Transformer}[name]().eval()
    x = torch.randn(2, 3, 16, 16) if name == "cnn" else torch.randint(0, 50, (2, 7))
    return Pair(made, copy.deepcopy(made).npu(), x)


NAMES = ["cnn", "transformer"]
