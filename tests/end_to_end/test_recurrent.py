# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers on sequences of several lengths: values and gradients as on the CPU.

torch-npu packs sequences with their padding, so the rows of both devices are compared as padded sequences. It computes
packed sequences in LSTMs of one or two layers, and in GRUs only through its own operator (docs/pytorch.md, "The
vendor's own warnings").
"""

import copy

import pytest
import torch
import torch_npu  # noqa: F401
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

LSTM, GRU = torch.nn.LSTM, torch.nn.GRU
LSTMS = {
    "one layer": {},
    "without bias": {"bias": False},
    "two layers": {"num_layers": 2},
    "both ways": {"bidirectional": True},
    "two layers, both ways": {"num_layers": 2, "bidirectional": True, "batch_first": True},
}
LENGTHS = [[5, 3, 2], [2, 5, 5], [1, 1, 1], [4, 4, 4]]


def packed(x, lengths, batch_first=False):
    """`x` packed, with rows of its own that take gradients."""
    made = pack_padded_sequence(x, lengths, batch_first=batch_first, enforce_sorted=False)
    return PackedSequence(made.data.detach().requires_grad_(), *made[1:])


def pad(rows, sequence):
    return pad_packed_sequence(PackedSequence(rows, *sequence[1:]))[0].detach().cpu()


def gradients(outputs, parameters, sequence):
    """Of the outputs, each element weighted differently; those of the rows as padded sequences."""
    score = (outputs * torch.linspace(-1, 1, outputs.numel()).to(outputs.device).reshape(outputs.shape)).sum()
    *of_parameters, of_rows = torch.autograd.grad(score, [*parameters, sequence.data])
    lengths = pad_packed_sequence(PackedSequence(sequence.data, *sequence[1:]))[1]
    rows = pad(of_rows, sequence)
    runs = torch.arange(len(rows))[:, None] < lengths
    return [*(g.cpu() for g in of_parameters), rows * runs[..., None]]


def check(results):
    for k, (want, got) in enumerate(zip(*results, strict=True)):
        # Sums of at most 15 products of 4 values in float32.
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5, msg=lambda m, k=k: f"result {k}: {m}")


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("name", LSTMS)
def test_lstm_on_packed_sequences(name, lengths):
    torch.manual_seed(3)
    net = LSTM(3, 4, **LSTMS[name])
    states = torch.randn(2, net.num_layers * (1 + net.bidirectional), 3, 4)
    x = torch.randn(3, 5, 3) if net.batch_first else torch.randn(5, 3, 3)
    results = []
    for device in ("cpu", "npu"):
        here = copy.deepcopy(net).to(device)
        sequence = packed(x.to(device), lengths, net.batch_first)
        out, last = here(sequence, tuple(states.to(device)))
        values = pad_packed_sequence(out)[0]
        results.append([values.detach().cpu(), *(s.detach().cpu() for s in last),
                        *gradients(values, here.parameters(), sequence)])  # fmt: skip
    check(results)


def test_lstm_gradients_of_the_last_states():
    torch.manual_seed(4)
    net, x, weight = LSTM(3, 4), torch.randn(5, 3, 3), torch.randn(2, 1, 3, 4)
    results = []
    for device in ("cpu", "npu"):
        here = copy.deepcopy(net).to(device)
        sequence = packed(x.to(device), [2, 5, 4])
        _, last = here(sequence)
        score = sum((s * w).sum() for s, w in zip(last, weight.to(device), strict=True))
        grads = torch.autograd.grad(score, [*here.parameters()])
        results.append([g.cpu() for g in grads])
    check(results)


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize(
    "layers, bidirectional, bias", [(1, False, True), (1, True, True), (2, True, True), (2, False, False)]
)
def test_gru_on_packed_sequences(layers, bidirectional, bias, lengths):
    torch.manual_seed(5)
    net = GRU(3, 4, layers, bias=bias, bidirectional=bidirectional)
    x, first = torch.randn(5, 3, 3), torch.randn(layers * (1 + bidirectional), 3, 4)
    results = []
    for device in ("cpu", "npu"):
        here, hx = copy.deepcopy(net).to(device), first.to(device)
        sequence = packed(x.to(device), lengths)
        if device == "cpu":
            out, last = here(sequence, hx)
            values = pad_packed_sequence(out)[0]
        else:
            hx = hx if sequence.sorted_indices is None else hx.index_select(1, sequence.sorted_indices)
            values, last, *_ = torch.ops.npu._gru_npu(
                sequence.data, hx, list(here.parameters()), bias, layers, 0.0, True, bidirectional, batch_first=False,
                batch_sizes=sequence.batch_sizes.npu())  # fmt: skip
            values = pad_packed_sequence(PackedSequence(values.flatten(0, 1), *sequence[1:]))[0]
            last = last if sequence.unsorted_indices is None else last.index_select(1, sequence.unsorted_indices)
        results.append([values.detach().cpu(), last.detach().cpu(), *gradients(values, here.parameters(), sequence)])
    check(results)


def test_packed_sequences_without_training():
    torch.manual_seed(6)
    net, x = LSTM(3, 4).eval(), torch.randn(5, 3, 3)
    results = []
    with torch.no_grad():
        for device in ("cpu", "npu"):
            out, last = copy.deepcopy(net).to(device)(packed(x.to(device), [5, 1, 3]))
            results.append([pad_packed_sequence(out)[0].cpu(), *(s.cpu() for s in last)])
    check(results)


@pytest.mark.parametrize("lengths", [None, *LENGTHS], ids=str)
@pytest.mark.parametrize("name", [*LSTMS, "three layers"])
def test_lstm_with_a_projection(name, lengths):
    """torch-npu has none; the package computes it (anynpu/library/lstm_projection.py)."""
    torch.manual_seed(7)
    net = LSTM(3, 4, proj_size=2, **LSTMS.get(name, {"num_layers": 3}))
    cells = net.num_layers * (1 + net.bidirectional)
    first = torch.randn(cells, 3, 2), torch.randn(cells, 3, 4)
    x = torch.randn(3, 5, 3) if net.batch_first else torch.randn(5, 3, 3)
    results = []
    for device in ("cpu", "npu"):
        here = copy.deepcopy(net).to(device)
        states = [s.to(device, copy=True).requires_grad_() for s in first]
        given = x.to(device, copy=True)
        given = given.requires_grad_() if lengths is None else packed(given, lengths, net.batch_first)
        out, last = here(given, tuple(states))
        values = out if lengths is None else pad_packed_sequence(out)[0]
        score = sum((t * torch.linspace(-1, 1, t.numel()).to(device).reshape(t.shape)).sum() for t in (values, *last))
        own = [given] if lengths is None else []
        grads = torch.autograd.grad(score, [*here.parameters(), *states, *own])
        results.append([t.detach().cpu() for t in (values, *last, *grads)])
    check(results)


def test_a_projection_packed_on_the_cpu():
    torch.manual_seed(8)
    net, x = LSTM(3, 4, proj_size=2, bidirectional=True), torch.randn(5, 3, 3)
    sequence = pack_padded_sequence(x, [2, 5, 4], enforce_sorted=False)
    results = []
    for device in ("cpu", "npu"):
        out, last = copy.deepcopy(net).to(device)(sequence.to(device))
        results.append([out.data.detach().cpu(), *(s.detach().cpu() for s in last)])
    check(results)


def test_only_lstms_take_a_projection():
    with pytest.raises(ValueError, match="proj_size argument is only supported for LSTM"):
        GRU(3, 4, proj_size=2).npu()
