# SPDX-License-Identifier: Apache-2.0
"""Small networks of the kinds that scripts train, and the loop that a script writes."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 8, 3, padding=1)
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        x = torch.relu(x + self.second(x))
        return self.head(x.mean((2, 3)))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 10)

    def forward(self, ids):
        return self.head(self.encoder(self.embedding(ids))[:, 0])


def batch(kind):
    torch.manual_seed(1)
    labels = torch.randint(0, 10, (8,)).npu()
    return (torch.randint(0, 50, (8, 6)) if kind is Bert else torch.randn(8, 3, 8, 8)).npu(), labels


def made(kind, seed=0):
    torch.manual_seed(seed)
    return kind().npu()


def step(model, optimizer, inputs, labels):
    loss = F.cross_entropy(model(inputs), labels)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
    return loss.item()
