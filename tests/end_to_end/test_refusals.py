# SPDX-License-Identifier: Apache-2.0
"""Calls that torch's CPU refuses are refused here too, by name; where users and tests look for torch's words, the text
has them. Calls that a page of the vendor allows, or that torch-npu changes before they reach a device, are not here."""

import re

import pytest
import torch
import torch.nn.functional as F
import torch_npu  # noqa: F401

X, AT = torch.randn(4, 6, generator=torch.Generator().manual_seed(1)), torch.arange(6)
NEGATIVE = "triggered with a negative slope"


def gradient(activate, to):
    activate(to(X).requires_grad_() * 1).sum().backward()


WRONG = {
    "softshrink of a negative lambda": (lambda to: F.softshrink(to(X), -1.0), "lambda must be greater or equal to 0"),
    "celu of 0": (lambda to: F.celu(to(X), 0.0), "alpha cannot be 0 for CELU"),
    "hardtanh of bytes": (lambda to: F.hardtanh(to(AT.byte()), -1.0, 1.0), "unsigned type with negative limits"),
    "elu in place": (lambda to: gradient(lambda x: F.elu(x, -1.0, inplace=True), to), NEGATIVE),
    "leaky_relu in place": (lambda to: gradient(lambda x: F.leaky_relu(x, -1.0, inplace=True), to), NEGATIVE),
    "smooth_l1 of a negative beta": (lambda to: F.smooth_l1_loss(to(X), to(X), beta=-1.0), "negative values for beta"),
    "bincount of less than nothing": (lambda to: torch.bincount(to(AT), minlength=-1), "minlength should be >= 0"),
    "amax into int32": (lambda to: torch.amax(to(X), 0, out=to(AT.int())), "dtype"),
    "amin into int32": (lambda to: torch.amin(to(X), 0, out=to(AT.int())), "dtype"),
    "complex of two dtypes": (lambda to: torch.complex(to(X), to(X.half())), "real is float32, imag is float16"),
    "polar of two dtypes": (lambda to: torch.polar(to(X), to(X.double())), "abs is float32, angle is float64"),
    "roll of a scalar": (lambda to: torch.roll(to(torch.tensor(1.0)), 1, 0), "no dimension"),
    "scatter of two dtypes": (lambda to: to(X).scatter(0, to(AT[None] % 4), to(X[:1].double())), "dtype"),
    "index_copy of two dtypes": (lambda to: to(X).index_copy(0, to(AT[:2]), to(X[:2].double())), "same dtype"),
    "masked_fill by a complex number": (lambda to: to(X).masked_fill(to(X) > 0, 1j), "ComplexFloat"),
    "gather of two dimensions by one": (lambda to: to(X).gather(0, to(AT % 4)), "number of dimensions"),
}
IN_TORCHS_WORDS = {
    "add_": lambda to: to(AT).add_(to(X[0])),
    "add_ of a number": lambda to: to(AT).add_(1.5),
    "add_ of bool": lambda to: to(AT > 2).add_(1),
    "sub_": lambda to: to(AT).sub_(to(X[0])),
    "mul_": lambda to: to(AT).mul_(to(X[0])),
    "mul_ of a complex number": lambda to: to(X).mul_(1j),
    "div_": lambda to: to(AT).div_(to(AT)),
    "pow_": lambda to: to(AT).pow_(to(X[0])),
    "remainder_": lambda to: to(AT).remainder_(1.5),
    "atan2_": lambda to: to(AT).atan2_(to(AT)),
    "add_ of a longer one": lambda to: to(X[:1]).add_(to(X)),
    "lerp_ of a longer one": lambda to: to(X[:1]).lerp_(to(X), 0.5),
    "lerp_ to halves": lambda to: to(X).lerp_(to(X.half()), 0.5),
    "lerp to float64": lambda to: torch.lerp(to(X), to(X.double()), 0.5),
    "lerp by float64": lambda to: torch.lerp(to(X), to(X), to(X.double())),
}


def refusal(call, device):
    with pytest.raises((RuntimeError, IndexError)) as refused:
        call(lambda t: t.to(device, copy=True))
        torch.npu.synchronize()
    return str(refused.value)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls_are_refused(name):
    call, words = WRONG[name]
    refusal(call, "cpu")
    assert re.search(words, refusal(call, "npu"))


@pytest.mark.parametrize("name", IN_TORCHS_WORDS)
def test_results_that_do_not_fit_are_refused_in_torchs_words(name):
    call = IN_TORCHS_WORDS[name]
    assert refusal(call, "cpu") in refusal(call, "npu")
