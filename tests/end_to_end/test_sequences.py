# SPDX-License-Identifier: Apache-2.0
"""torch.linspace and torch.logspace in every dtype, with ends that are no whole numbers, as on the CPU."""

import pytest
import torch
import torch_npu  # noqa: F401

ENDS = [(0, 10), (0.5, 9.7), (-3.9, 3.9), (5.5, -5.5), (0, 1.2), (7, 7)]
WHOLE = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
@pytest.mark.parametrize("steps", [0, 1, 2, 5, 8, 64])
def test_whole_numbers_between_whole_ends(steps, dtype):
    for start, end in ENDS:
        if dtype is torch.uint8 and min(start, end) < 0:
            continue
        want = torch.linspace(start, end, steps, dtype=dtype)
        assert torch.equal(torch.linspace(start, end, steps, dtype=dtype, device="npu").cpu(), want), (start, end)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_whole_powers_between_whole_exponents(dtype):
    for start, end in [(0, 1.2), (0.9, 3.9), (0, 4), (2, 0)]:
        for steps in (1, 2, 3, 5):
            want = torch.logspace(start, end, steps, dtype=dtype)
            assert torch.equal(torch.logspace(start, end, steps, dtype=dtype, device="npu").cpu(), want), (start, end)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_fractions_stay(dtype):
    tolerance = {torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}[dtype]  # one rounding
    for start, end in ENDS:
        for steps in (1, 2, 5, 8):
            got, want = (torch.linspace(start, end, steps, dtype=dtype, device=d).cpu() for d in ("npu", "cpu"))
            torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance)
