# SPDX-License-Identifier: Apache-2.0
"""F.interpolate by factors and to sizes, forwards and backwards, against the CPU.

Nearest moves elements: every bit is the CPU's, and the gradient goes back to where an element came from (the CPU's own
gradient takes others where a factor such as 2.17 makes an axis twice as long). The plug-in passes the factor as float32
there, so the factors are numbers that people write (up to two decimals, and fractions); a float32 does not distinguish
other doubles. The other modes are weighted sums whose weights torch rounds to float32 first: 1e-5 of the largest value,
halves two roundings."""

import random

import pytest
import torch
import torch.nn.functional as F
import torch_npu  # noqa: F401

DRAWN = random.Random(0)
FACTORS = [1.1, 0.9, 2, 2.5, 1 / 3, 2 / 3, 7 / 3, 1.7, 0.4, 3.3, *(round(DRAWN.uniform(0.3, 4), 2) for _ in range(30))]
TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float64: 1e-12}


def image(rank, dtype, seed):
    drawn = random.Random(seed)
    sizes = [drawn.randint(3, 120) for _ in range(rank)]
    return torch.rand(2, 3, *sizes, generator=torch.Generator().manual_seed(seed)).to(dtype)


def both(x, **how):
    """(result, gradient) on the CPU and on the NPU, of the same gradient of the result."""
    found, given = [], None
    for device in ("cpu", "npu"):
        own = x.detach().to(device).requires_grad_()
        out = F.interpolate(own, **how)
        given = (
            torch.rand(out.shape, generator=torch.Generator().manual_seed(9)).to(x.dtype) if given is None else given
        )
        out.backward(given.to(device))
        found.append((out.detach().cpu(), own.grad.cpu()))
    return *found, given


def gone_back(x, given, **how):
    """The gradient of nearest: what came from an element is added up in float64."""
    places = torch.arange(float(x[0, 0].numel())).reshape(1, 1, *x.shape[2:])
    places = F.interpolate(places, **how).long().flatten()
    sums = torch.zeros(*x.shape[:2], x[0, 0].numel(), dtype=torch.float64)
    return sums.index_add_(2, places, given.double().flatten(2)).reshape(x.shape)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("rank", [1, 2])
def test_nearest_moves_what_the_cpu_moves(rank, mode, dtype):
    for seed, factor in enumerate(FACTORS):
        x = image(rank, dtype, seed)
        (want, _), (got, own), given = both(x, scale_factor=factor, mode=mode)
        assert torch.equal(got, want), f"{tuple(x.shape)} by {factor}"
        gradient = gone_back(x, given, scale_factor=factor, mode=mode)
        torch.testing.assert_close(own.double(), gradient, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("how", ["linear", "bilinear", "bicubic", "area"])
def test_weighted_modes_are_as_on_the_cpu(how, dtype):
    for seed, factor in enumerate(FACTORS):
        x = image(1 if how == "linear" else 2, dtype, seed)
        if min(x.shape[2:]) * factor < 1:
            continue
        corners = None if how == "area" else seed % 2 == 1
        (want, gradient), (got, own), _ = both(x, scale_factor=factor, mode=how, align_corners=corners)
        limit = TOLERANCE[dtype] * max(1, 1 / factor)
        torch.testing.assert_close(got, want, rtol=limit, atol=limit)
        torch.testing.assert_close(own, gradient, rtol=limit, atol=limit * max(1, factor**2))


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_nearest_to_a_size(mode):
    for seed in range(60):
        x, drawn = image(2, torch.float32, seed), random.Random(-1 - seed)
        size = (drawn.randint(1, 200), drawn.randint(1, 200))
        (want, _), (got, _), _ = both(x, size=size, mode=mode)
        assert torch.equal(got, want), f"{tuple(x.shape)} to {size}"


def bytes_image(rank, seed):
    drawn = random.Random(seed)
    shape = [drawn.choice([1, 2]), drawn.choice([1, 3, 4, 8, 33]), *(drawn.randint(1, 30) for _ in range(rank))]
    x = torch.randint(0, 256, shape, generator=torch.Generator().manual_seed(seed), dtype=torch.uint8)
    return x.contiguous(memory_format=torch.channels_last) if rank == 2 and seed % 3 == 0 else x


def sizes_or_factors(x, seed):
    """Some axes keep their size. Widths of 1 are left out: torch's CPU gives other elements there (2.13, more than four
    channels)."""
    drawn = random.Random(-1 - seed)
    sizes = [drawn.choice([n, drawn.randint(2, 40)]) for n in x.shape[2:]]
    factors = [round(drawn.uniform(0.7, 3), 2) for _ in sizes]
    # Nearest of torch's CPU halves positions where an axis becomes twice as long, whatever the factor.
    doubled = any(int(n * f) == 2 * n for n, f in zip(x.shape[2:], factors, strict=True))
    if seed % 2 or doubled or min(x.shape[2:]) < 3:
        return {"size": [max(n, 2) for n in sizes]}
    return {"scale_factor": factors}


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_bytes_are_moved_as_on_the_cpu(rank, mode):
    for seed in range(30):
        x = bytes_image(rank, seed)
        how = sizes_or_factors(x, seed)
        want, got = (F.interpolate(own, mode=mode, **how) for own in (x, x.npu()))
        assert got.dtype == torch.uint8 and torch.equal(got.cpu(), want), f"{tuple(x.shape)} {how}"


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_bytes_are_weighted_as_on_the_cpu(mode, antialias):
    """To the bit: weights of 16 bits, rows rounded before columns."""
    for seed in range(60):
        x = bytes_image(2, seed)
        how = sizes_or_factors(x, seed) | {"mode": mode, "antialias": antialias, "align_corners": seed % 5 == 0}
        want, got = (F.interpolate(own, **how) for own in (x, x.npu()))
        assert got.dtype == torch.uint8 and torch.equal(got.cpu(), want), f"{tuple(x.shape)} {how}"


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_other_integers_are_refused_as_images(mode):
    with pytest.raises(RuntimeError, match=r"the image is int32.*; use float32") as refused:
        F.interpolate(torch.zeros(1, 1, 3, 3, dtype=torch.int32).npu(), scale_factor=2, mode=mode)
    assert "pooling" not in str(refused.value)
