# SPDX-License-Identifier: Apache-2.0
"""torch.nn.LSTM with proj_size on the NPU. torch-npu gives the device neither the projection's weight nor its size, so
such a layer is computed here from products and gates, step by step, as torch's own CPU path computes it. Autograd
follows. Layers without a projection go to torch-npu untouched."""

import functools
import itertools
import sys


def begin():
    """torch_npu has imported torch."""
    if functions := sys.modules.get("torch._VF"):
        functions.lstm = projecting(functions.lstm)


def projecting(compute):
    """torch's lstm(input, hx, weights, …) and lstm(data, batch_sizes, hx, weights, …), with projections on the NPU."""

    @functools.wraps(compute)
    def lstm(data, *arguments):
        packed = not isinstance(arguments[0], (list, tuple))
        states, weights, has_biases, *_ = arguments[packed:]
        # A projection makes h narrower than c.
        if data.device.type != "npu" or states[0].shape[-1] == states[1].shape[-1]:
            return compute(data, *arguments)
        return projected(data, arguments[0] if packed else None, states, weights, has_biases, *arguments[3 + packed :])

    return lstm


def projected(data, batch_sizes, states, weights, has_biases, layers, dropout, training, both_ways, batch_first=False):
    """Output and last states. `weights` of a layer and direction: w_ih, w_hh, with biases b_ih, b_hh, then w_hr."""
    import torch
    from torch.nn.functional import dropout as drop

    if batch_first:
        data = data.transpose(0, 1)
    rows = Rows(data, batch_sizes, states[0].shape[1])
    x, per_cell, directions = rows.steps(data), 5 if has_biases else 3, 1 + both_ways
    cells = [weights[at : at + per_cell] for at in range(0, len(weights), per_cell)]
    last_h, last_c = [], []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            cell = layer * directions + direction
            y, h, c = run(x, rows, states[0][cell], states[1][cell], cells[cell], backwards=direction == 1)
            outputs.append(y)
            last_h.append(h)
            last_c.append(c)
        x = torch.cat(outputs, 2)
        if layer + 1 < layers:
            x = drop(x, dropout, training)
    out = rows.like_data(x)
    return out.transpose(0, 1) if batch_first else out, torch.stack(last_h), torch.stack(last_c)


class Rows:
    """How many sequences run at each step, the longest first, and where their rows are in the data: a plain tensor
    [steps, batch, …]; with batch_sizes rows as torch packs them, or with their padding, as torch-npu does."""

    def __init__(self, data, batch_sizes, batch):
        self.batch = batch
        self.counts = [batch] * len(data) if batch_sizes is None else batch_sizes.tolist()
        self.plain = batch_sizes is None
        self.tight = not self.plain and len(data) == sum(self.counts)

    def steps(self, data):
        """[steps, batch, …]; rows of sequences that have ended are zeros, or padding."""
        import torch

        if self.plain:
            return data
        if not self.tight:
            return data.unflatten(0, (len(self.counts), self.batch))
        ends = list(itertools.accumulate(self.counts))
        parts = [data[end - count : end] for end, count in zip(ends, self.counts, strict=True)]
        return torch.stack([self.padded(part) for part in parts])

    def padded(self, part):
        """A step's rows, with zeros for the sequences that do not run."""
        import torch

        missing = self.batch - len(part)
        return torch.cat([part, part.new_zeros(missing, part.shape[1])]) if missing else part

    def like_data(self, steps):
        import torch

        if self.plain:
            return steps
        if not self.tight:
            return steps.flatten(0, 1)
        return torch.cat([step[:count] for step, count in zip(steps, self.counts, strict=True)])


def run(x, rows, h, c, weights, backwards):
    """One layer in one direction over x [steps, batch, inputs]; h and c are the first states."""
    import torch
    from torch.nn.functional import linear

    w_ih, w_hh, *biases, w_hr = weights
    from_inputs = linear(x, w_ih, sum(biases) if biases else None)
    outputs = [None] * len(x)
    for t in reversed(range(len(x))) if backwards else range(len(x)):
        n = rows.counts[t]
        i, f, g, o = (from_inputs[t, :n] + linear(h[:n], w_hh)).chunk(4, 1)
        made_c = f.sigmoid() * c[:n] + i.sigmoid() * g.tanh()
        made_h = linear(o.sigmoid() * made_c.tanh(), w_hr)
        outputs[t] = rows.padded(made_h)
        h, c = (torch.cat([made_h, h[n:]]), torch.cat([made_c, c[n:]])) if n < len(h) else (made_h, made_c)
    return torch.stack(outputs), h, c
