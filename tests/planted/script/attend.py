# SPDX-License-Identifier: Apache-2.0
"""Attention in float16 and a loss: `attend.py FAULT`, of none, overflow (scores that are not scaled), values (that are
too large), log (of 0) and root (of what is negative)."""

import sys

import torch

FAULT = sys.argv[1]
torch.manual_seed(0)
x = (torch.rand(2, 16, 64) + 8).npu().half()
scale = 1.0 if FAULT == "overflow" else 0.125


def attention(x):
    scores = torch.matmul(x * 4, x.transpose(1, 2) * 4 * scale)
    values = x * (9000 if FAULT == "values" else 1)
    return torch.matmul(torch.softmax(scores, -1), values)


def loss(y):
    shares = torch.softmax(y.float().reshape(128, 16), 0) * (torch.arange(16).npu() != (3 if FAULT == "log" else -1))
    spread = torch.sqrt(shares - (1 if FAULT == "root" else 0))
    return spread.mean() - torch.log(shares[:2, :4]).mean()


print(loss(attention(x)).item())
