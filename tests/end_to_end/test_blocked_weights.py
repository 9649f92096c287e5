# SPDX-License-Identifier: Apache-2.0
"""Weights that torch_npu.npu_format_cast lays out in blocks (FRACTAL_NZ), and the products that read them so."""

import pytest
import torch
import torch_npu

HALF = [torch.float16, torch.bfloat16]
NZ = 29


@pytest.fixture(autouse=True)
def internal_formats():
    torch.npu.config.allow_internal_format = True
    yield
    torch.npu.config.allow_internal_format = False


def blocked(tensor):
    cast = torch_npu.npu_format_cast(tensor.npu(), NZ)
    assert torch_npu.get_npu_format(cast) == NZ
    return cast


def rand(*shape, dtype):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape))).to(dtype)


def bytes_of(*shape):
    return torch.randint(-128, 128, shape, dtype=torch.int8, generator=torch.Generator().manual_seed(shape[0]))


def check(got, want):
    error = (got.cpu().double() - want).abs().max() / want.abs().max()
    assert error < {torch.float32: 2e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}[got.dtype], error


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int32])
def test_blocks_come_back_as_rows(dtype):
    for shape in ((16, 32), (40, 33), (2, 3, 17, 16)):
        x = torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)
        assert torch.equal(torch_npu.npu_format_cast(blocked(x), 2).cpu(), x)


@pytest.mark.parametrize("dtype", [torch.float32, *HALF])
def test_products_of_floats(dtype):
    x, w, bias = rand(40, 24, dtype=dtype), rand(24, 33, dtype=dtype), rand(33, dtype=dtype)
    want = x.double() @ w.double()
    check(x.npu() @ blocked(w), want)
    check(torch.addmm(bias.npu(), x.npu(), blocked(w)), want + bias.double())
    check(torch.nn.functional.linear(x.npu(), blocked(w.t().contiguous()), bias.npu()), want + bias.double())
    xs, ws = rand(3, 5, 24, dtype=dtype), rand(3, 24, 33, dtype=dtype)
    want = xs.double() @ ws.double()
    check(torch.bmm(xs.npu(), blocked(ws)), want)
    check(torch_npu.npu_transpose_batchmatmul(xs.npu(), blocked(ws), perm_y=[1, 0, 2]), want.transpose(0, 1))
    ends = torch.tensor([10, 20, 40])
    (got,) = torch_npu.npu_grouped_matmul([x.npu()], [blocked(ws)], group_list=ends.npu(), split_item=2, group_type=0)
    check(got, torch.cat([a.double() @ b.double() for a, b in zip(x.split([10, 10, 20]), ws, strict=True)]))


def test_products_of_bytes():
    x, w, scale, tokens = bytes_of(8, 64), bytes_of(64, 96), torch.rand(96), torch.rand(8)
    got = torch_npu.npu_quant_matmul(x.npu(), blocked(w), scale.npu(), pertoken_scale=tokens.npu(),
                                     output_dtype=torch.bfloat16)  # fmt: skip
    check(got, (x.long() @ w.long()) * scale.double() * tokens.double()[:, None])
