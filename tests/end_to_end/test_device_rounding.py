# SPDX-License-Identifier: Apache-2.0
"""Operators inside of which the device rounds, against the goldens of the vendor's own tests and pages; ANYNPU_EXACT=1
computes them exactly (docs/precision.md, "Roundings inside operators")."""

import os
import subprocess
import sys

import pytest
import torch
import torch_npu


def selected_attention():
    """The result, the vendor's golden, whose weights are rounded to halves, and that without the rounding."""
    g = torch.Generator().manual_seed(1)
    blocks, size, heads, depth = 4, 64, 3, 32
    q = torch.randn(1, heads, depth, generator=g).half()
    k, v = (torch.randn(blocks * size, heads, n, generator=g).half() for n in (depth, 16))
    chosen = torch.arange(blocks, dtype=torch.int32).expand(1, heads, blocks).contiguous()
    got = torch_npu.npu_nsa_select_attention(
        q.npu(), k.npu(), v.npu(), chosen.npu(), 0.2, heads, size, blocks,
        actual_seq_qlen=[1], actual_seq_kvlen=[blocks * size])[0].cpu()  # fmt: skip
    weights = (torch.einsum("tnd,snd->tns", q.float(), k.float()) * 0.2).softmax(-1)
    rounded, exact = (torch.einsum("tns,snd->tnd", p.float(), v.float()).half() for p in (weights.half(), weights))
    return got, rounded, exact


def weight_quantised():
    g = torch.Generator().manual_seed(2)
    x = torch.randn(16, 256, generator=g).half()
    weight = torch.randint(-100, 100, (256, 128), dtype=torch.int8, generator=g)
    scale, offset = (torch.randn(1, 128, generator=g).half() for _ in range(2))
    got = torch_npu.npu_weight_quant_batchmatmul(x.npu(), weight.npu(), scale.npu(), offset.npu()).cpu()
    rounded = (weight + offset) * scale
    exact = (weight.float() + offset.float()) * scale.float()
    return got, *((x.float() @ w.float()).half() for w in (rounded, exact))


def boxes():
    anchors, truth = torch.tensor([[1.0, 2, 3, 4], [3, 4, 5, 6]]), torch.tensor([[5.0, 6, 7, 8], [7, 8, 9, 6]])
    got = torch_npu.npu_bounding_box_encode(anchors.npu(), truth.npu(), 0, 0, 0, 0, 0.1, 0.1, 0.2, 0.2).cpu()
    page = torch.tensor([[13.328125, 13.328125, 0, 0], [13.328125, 6.6640625, 0, torch.nan]])
    exact = torch.tensor([[40 / 3, 40 / 3, 0, 0], [40 / 3, 20 / 3, 0, torch.nan]])
    return tuple(t.nan_to_num(0) for t in (got, page, exact))


CASES = {f.__name__: f for f in (selected_attention, weight_quantised, boxes)}


def distances(name):
    """From the device's rounding, and from none; what is left of the nearer one is the order of sums."""
    got, rounded, exact = (t.float() for t in CASES[name]())
    return (got - rounded).abs().mean().item(), (got - exact).abs().mean().item()


@pytest.mark.parametrize("name", CASES)
def test_the_default_rounds_as_the_device(name):
    from_rounded, from_exact = distances(name)
    assert from_rounded < 0.3 * from_exact


def test_the_setting_computes_exactly():
    run = subprocess.run(
        [sys.executable, __file__], env=os.environ | {"ANYNPU_EXACT": "1"}, capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in run.stdout.splitlines() if line.split(" ")[0] in CASES]
    assert len(lines) == len(CASES)
    for name, from_rounded, from_exact in lines:
        assert float(from_exact) < 0.3 * float(from_rounded), name


if __name__ == "__main__":
    for case in CASES:
        print(case, *distances(case))
