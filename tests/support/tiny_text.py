# SPDX-License-Identifier: Apache-2.0
"""A small language model, what it learns, and what is said of its training, for the frameworks of tests/clients."""

import torch
from torch import nn


class Layers:
    """For a module of any framework, whose class stands behind this one."""

    def __init__(self, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.words = nn.Embedding(64, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 64)

    def loss_of(self, ids):
        logits = self.head(self.layers(self.words(ids)))
        return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten())


class Tiny(Layers, nn.Module):
    def forward(self, ids):
        return self.loss_of(ids)


def rows(count):
    """Rows that count upwards: what a model learns within a few steps, so that a step left out is seen in the loss."""
    g = torch.Generator().manual_seed(1)
    return (torch.randint(0, 64, (count, 1), generator=g) + torch.arange(12)) % 64


def optimizer_of(model):
    return torch.optim.AdamW(model.parameters(), lr=1e-2)


def on_the_cpu(batches, ahead=False):
    """The losses of plain torch in one process; `ahead`: after a step of the optimizer with gradients of zero."""
    model, losses = Tiny(), []
    optimizer = optimizer_of(model)
    if ahead:
        for weight in model.parameters():
            weight.grad = torch.zeros_like(weight)
        optimizer.step()
    for ids in batches:
        loss = model(ids)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def judged(what, losses, expected, close, again, whose="the CPU's"):
    """Whether losses are as near to `expected` as `close` says, and those of the second half, from a checkpoint, have
    the same bits `again`; and a line that says so."""
    off = max(abs(a - b) / abs(b) for a, b in zip(losses, expected, strict=True))
    same = again == losses[len(losses) // 2 :]
    good = off < close and same
    how = "with the same bits" if same else f"as {again}"
    line = f"{what}: {len(losses)} steps, losses {losses[0]:.6f} to {losses[-1]:.6f}, at most {off:.1e} from {whose}"
    return good, f"{line}; resumed {how}{'' if good else '  DIFFERS'}"
