# SPDX-License-Identifier: Apache-2.0
"""Kernels against the same computation in float64: their error is no larger than torch's own on the same inputs, and
their bits are those of any number of threads (tests/end_to_end/bits_of_kernels.py)."""

import os
import subprocess
import sys
from pathlib import Path

import kernels_of_speed as kernels
import pytest
import torch

# Root mean squares of errors: what two orders of summation differ by at random is below a tenth. Where both are below
# a quarter of the last place (2^-25 of float32, 2^-9 of bfloat16, of the root mean square of the result), either
# rounds as well as can be.
ALLOWED = 1.1
# oneDNN 3.2 sums a pixel of a float32 convolution, or of its gradient, in one run of up to 9 * 160 products; torch's
# later one takes several runs.
ALLOWED_OF_PIXELS = 3.5


def floor(dtype):
    return torch.finfo(dtype).eps / 4


def error(got, want):
    return ((got.double() - want).square().mean().sqrt() / want.square().mean().sqrt()).item()


@pytest.mark.parametrize("name", kernels.CASES)
def test_error_is_no_larger_than_torchs(name):
    function, inputs, dtype = kernels.case(name)
    exact = function([x.double() for x in inputs])
    of_torch = function(inputs)
    of_npu = [y.cpu() for y in function([x.npu() for x in inputs])]
    assert len(of_npu) == len(exact) > 0
    for i, (want, cpu, npu) in enumerate(zip(exact, of_torch, of_npu, strict=True)):
        mine, theirs = error(npu, want), error(cpu, want)
        print(f"{name} [{i}]: {mine:.2e}, torch {theirs:.2e}")
        pixels = name.startswith("conv 3x3") and name.endswith("fp32") and i < 2
        allowed = ALLOWED_OF_PIXELS if pixels else ALLOWED
        assert mine <= max(allowed * theirs, floor(dtype)), f"result {i}: {mine:.2e}, torch's {theirs:.2e}"


def test_bits_do_not_depend_on_threads_or_runs():
    script = Path(__file__).with_name("bits_of_kernels.py")
    sums = []
    for threads in (1, 2, 2, 4):
        env = {**os.environ, "ANYNPU_THREADS": str(threads)}
        run = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        sums.append(run.stdout)
    assert sums[0].count("\n") == len(kernels.CASES)
    assert len(set(sums)) == 1
