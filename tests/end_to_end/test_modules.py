# SPDX-License-Identifier: Apache-2.0
"""Modules and functions that scripts use beside the models: values and gradients as on the CPU."""

import copy

import pytest
import torch
import torch.nn.functional as F


def lstm_cell():
    cell = torch.nn.LSTMCell(6, 5)

    def steps(cell, x):
        h, c = cell(x[0])
        for step in x[1:]:
            h, c = cell(step, (h, c))
        return h + c

    return cell, steps, torch.randn(4, 3, 6)


def deep_lstm():
    net = torch.nn.LSTM(4, 5, num_layers=3, bidirectional=True, batch_first=True)
    return (
        net,
        lambda net, x: net(x)[0] + net(x, (x.new_ones(6, 3, 5), x.new_ones(6, 3, 5)))[1][1].sum(),
        torch.randn(3, 6, 4),
    )


def distances():
    net = torch.nn.Linear(4, 3)

    def nearest(net, x):
        codes = torch.arange(6, dtype=x.dtype, device=x.device).reshape(2, 3)
        return sum(torch.cdist(net(x), codes, p).amin(-1) for p in (1.0, 2.0, 3.0))

    return net, nearest, torch.randn(5, 4)


def spatial_transformer():
    net = torch.nn.Linear(36, 6)
    net.bias.data = torch.tensor([1.0, 0, 0, 0, 1, 0])

    def transform(net, x):
        theta = net(x.flatten(1)).reshape(-1, 2, 3)
        return F.grid_sample(x, F.affine_grid(theta, x.shape, align_corners=False), align_corners=False)

    return net, transform, torch.randn(2, 1, 6, 6)


def speech():
    net = torch.nn.Linear(9, 5)

    def loss(net, x):
        window = torch.hann_window(16).to(x.device)
        spectrum = torch.stft(x, 16, 4, window=window, return_complex=True)
        power = spectrum.abs().square()  # [batch, bins, frames]
        labels = torch.tensor([[1, 2, 2], [3, 1, 4]], device=x.device)
        frames = power.shape[2]
        return F.ctc_loss(net(power.permute(2, 0, 1)).log_softmax(-1), labels, [frames] * 2, [3, 3])

    return net, loss, torch.randn(2, 80)


def matrices():
    net = torch.nn.Linear(4, 4)

    def solve(net, x):
        a = net(x) @ net(x).mT + 3 * torch.eye(4, device=x.device)
        q, r = torch.linalg.qr(a)
        return torch.inverse(a).sum() + torch.linalg.svdvals(a).sum() + (q @ r).sum()

    return net, solve, torch.randn(3, 4, 4)


def index_of_a_scalar():
    net = torch.nn.Linear(1, 1)

    def pick(net, x):
        scale = net(x).sum()
        return scale.index_select(0, torch.zeros(1, dtype=torch.long, device=x.device)) + scale.unfold(0, 1, 1)[0]

    return net, pick, torch.randn(3, 1)


@pytest.mark.promise(
    "LSTM cells and deep LSTMs, STFT and CTC, spatial transformers, distances and small linear algebra, with gradients"
)
@pytest.mark.parametrize(
    "make", [lstm_cell, deep_lstm, distances, spatial_transformer, speech, matrices, index_of_a_scalar]
)
def test_values_and_gradients_equal_the_cpu(make):
    """As near to float64 as the CPU's own float32 is, whose sums cancel differently on each machine: errors up to twice
    as large, and 1e-6 of the largest value."""
    torch.manual_seed(0)
    module, function, x = make()
    results = []
    for device, dtype in (("cpu", torch.float64), ("cpu", torch.float32), ("npu", torch.float32)):
        here, value = copy.deepcopy(module).to(device, dtype), x.detach().to(device, dtype).requires_grad_()
        out = function(here, value)
        grads = torch.autograd.grad(out.square().sum(), [*here.parameters(), value])
        results.append([t.detach().cpu().double() for t in (out, *grads)])
    for name, true, cpu, npu in zip(["out", *[n for n, _ in module.named_parameters()], "x"], *results, strict=True):
        allowed = 2 * (cpu - true).abs().max() + 1e-6 * true.abs().max()
        assert (npu - true).abs().max() <= allowed, f"{name}: {(npu - true).abs().max()}, where {allowed} is allowed"


@pytest.mark.promise("the pieces of SyncBatchNorm")
def test_three_ranks_of_batch_norm_equal_one_batch():
    """The pieces torch.nn.SyncBatchNorm is made of."""
    x = torch.randn(30, 4, 5)
    bn = torch.nn.BatchNorm1d(4)
    want = bn(x)
    parts = [p.npu() for p in x.split([5, 10, 15])]
    stats = [torch.batch_norm_stats(p, bn.eps) for p in parts]
    running = torch.zeros(4).npu(), torch.ones(4).npu()
    mean, invstd = torch.batch_norm_gather_stats_with_counts(
        parts[0], torch.stack([s[0] for s in stats]), torch.stack([s[1] for s in stats]), *running, bn.momentum, bn.eps,
        torch.tensor([25.0, 50, 75]).npu(),
    )  # fmt: skip
    weight, bias = bn.weight.detach().npu(), bn.bias.detach().npu()
    got = torch.cat([torch.batch_norm_elemt(p, weight, bias, mean, invstd, bn.eps) for p in parts])
    torch.testing.assert_close(got.cpu(), want.detach(), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(running[0].cpu(), bn.running_mean, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(running[1].cpu(), bn.running_var, rtol=1e-5, atol=1e-6)
