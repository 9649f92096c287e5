# SPDX-License-Identifier: Apache-2.0
"""Operators on integer tensors that the CPU takes and torch-npu passes on: values and dtypes are the CPU's. Left out is
what torch-npu makes of another dtype (exp and erf of narrow integers)."""

import pytest
import torch
import torch_npu  # noqa: F401

INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
OPERATORS = {
    "neg": lambda x: -x,
    "neg_": lambda x: x.clone().neg_(),
    "abs": torch.abs,
    "sign": torch.sign,
    "square": torch.square,
    "ceil": torch.ceil,
    "floor": torch.floor,
    "round": torch.round,
    "trunc": torch.trunc,
    "bitwise_not": torch.bitwise_not,
    "logical_not": torch.logical_not,
    "relu": torch.relu,
    "relu_": lambda x: x.clone().relu_(),
    "expm1": lambda x: torch.expm1(x % 5),
    "sqrt": lambda x: torch.sqrt(x % 100),
    "sigmoid": torch.sigmoid,
    "sin": lambda x: torch.sin(x % 100),
    "log1p": lambda x: torch.log1p(x % 100),
    "isnan": torch.isnan,
    "clamp": lambda x: x.clamp(1, 3),
    "pow": lambda x: x**2,
    "addcmul": lambda x: torch.addcmul(x, x, x),
    "sum": torch.sum,
    "prod": torch.prod,
    "cumsum": lambda x: x.cumsum(0),
    "max": torch.max,
    "argmax": torch.argmax,
    "sort": lambda x: x.sort(stable=True)[0],
    "flip": lambda x: x.flip(0),
    "roll": lambda x: x.roll(2, 0),
}


def values(dtype):
    """Both ends of the dtype among them: the least integer has no opposite."""
    ends = torch.iinfo(dtype)
    return torch.tensor([1, ends.min, 3, 0, ends.max, 2, ends.max - 1], dtype=dtype)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", OPERATORS)
def test_integers(name, dtype):
    x = values(dtype)
    want, got = OPERATORS[name](x), OPERATORS[name](x.npu()).cpu()
    assert got.dtype == want.dtype
    # Functions with values between the integers are computed in float32.
    torch.testing.assert_close(got, want, rtol=2e-6 if want.is_floating_point() else 0, atol=0, equal_nan=True)


@pytest.mark.parametrize("self_dtype", [torch.bool, torch.int64], ids=str)
@pytest.mark.parametrize("first", [torch.bool, torch.int32, torch.float32], ids=str)
@pytest.mark.parametrize("second", [torch.bool, torch.int64], ids=str)
def test_addr_of_truth_values_and_numbers(self_dtype, first, second):
    """Of self in float32 and vectors of less torch-npu makes a result of the vectors' dtype."""
    given = torch.tensor([1, 0, 1]).to(self_dtype), torch.tensor([1, 0, 2]).to(first), torch.tensor([0, 1]).to(second)
    given = given[0][:, None].expand(3, 2), *given[1:]
    want, got = torch.addr(*given), torch.addr(*(t.npu() for t in given)).cpu()
    assert got.dtype == want.dtype and torch.equal(got, want)


def test_losses_of_images_with_int32_targets():
    """torch's CPU takes int64 alone; it is the oracle for the same classes."""
    scores = torch.randn(2, 4, 3, 5, generator=torch.Generator().manual_seed(1))
    target = torch.randint(0, 4, (2, 3, 5), generator=torch.Generator().manual_seed(2))
    for reduction in ("none", "mean", "sum"):
        results = []
        for device, dtype in (("cpu", torch.int64), ("npu", torch.int32)):
            x = scores.to(device, copy=True).requires_grad_()
            loss = torch.nn.functional.nll_loss(x, target.to(device, dtype), reduction=reduction)
            loss.sum().backward()
            results.append((loss.detach().cpu(), x.grad.cpu()))
        torch.testing.assert_close(*results)
