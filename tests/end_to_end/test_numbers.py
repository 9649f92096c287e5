# SPDX-License-Identifier: Apache-2.0
"""Numbers beside half tensors, results that cannot be cast, and dtypes that few operators take: all as on the CPU."""

import operator

import pytest
import torch
import torch_npu  # noqa: F401

HALVES = [torch.float16, torch.bfloat16]
# 0.1 and 1.7 are no halves: float16 and bfloat16 round them up and down.
NUMBERS = [0.1, 1.7, -0.3]

BINARY = {
    "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge,
    "add": torch.add, "sub": torch.sub, "rsub": torch.rsub, "mul": torch.mul, "div": torch.div,
    "fmod": torch.fmod, "remainder": torch.remainder, "floor_divide": torch.floor_divide,
    "number minus": lambda t, n: n - t, "number remainder": lambda t, n: torch.remainder(n, t),
    "maximum": torch.clamp_min, "minimum": torch.clamp_max, "hardshrink": lambda t, n: torch.nn.Hardshrink(abs(n))(t),
    "threshold": lambda t, n: torch.nn.functional.threshold(t, n, 9.0),
    "0-dim float32": lambda t, n: t + torch.tensor(n, device=t.device),
    "0-dim float32, compared": lambda t, n: t == torch.tensor(n, device=t.device),
    "whole numbers": lambda t, n: t + torch.arange(2040, 2040 + t.numel(), device=t.device).reshape(t.shape),
    "add in place": lambda t, n: t.clone().add_(n), "eq in place": lambda t, n: t.clone().eq_(n),
    "foreach add": lambda t, n: torch._foreach_add([t, t[:5]], n)[0],
    "foreach sub": lambda t, n: torch._foreach_sub([t, t[:5]], n)[1],
    "foreach mul": lambda t, n: torch._foreach_mul([t, t[:5]], n)[0],
    "foreach div": lambda t, n: torch._foreach_div([t, t[:5]], n)[0],
    "foreach add, a list": lambda t, n: torch._foreach_add([t, t[:5]], [n, 2 * n])[1],
    "foreach maximum": lambda t, n: torch._foreach_maximum([t, t[:5]], n)[0],
    "foreach add_": lambda t, n: (lambda own: (torch._foreach_add_(own, n), own[0])[1])([t.clone(), t[:5].clone()]),
}  # fmt: skip


def halves(dtype):
    """Values around the numbers, and what the numbers themselves become."""
    torch.manual_seed(0)
    values = torch.cat([torch.rand(4000) * 8 - 4, torch.tensor(NUMBERS), -torch.tensor(NUMBERS)])
    return values.to(dtype)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_numbers_beside_halves_have_the_bits_of_the_cpu(name, dtype):
    x, function = halves(dtype), BINARY[name]
    for number in NUMBERS:
        want, got = function(x, number), function(x.npu(), number).cpu()
        assert got.dtype == want.dtype
        differ = int((got != want).sum() - (got.isnan() & want.isnan()).sum())
        assert differ == 0, f"{name} of {number}: {differ} of {x.numel()} differ"


NEARLY = {
    "alpha": lambda t, n: torch.add(t, t, alpha=n), "sub alpha": lambda t, n: torch.sub(t, t, alpha=n),
    "number and alpha": lambda t, n: torch.add(t, 3, alpha=n),
    "foreach alpha": lambda t, n: torch._foreach_add([t, t[:5]], [t, t[5:10]], alpha=n)[0],
    "pow": torch.pow, "number to the": lambda t, n: torch.pow(abs(n), t), "in place": lambda t, n: t.clone().pow_(n),
    "atan2": lambda t, n: torch.atan2(t, torch.tensor(n, device=t.device)),
    "foreach pow": lambda t, n: torch._foreach_pow([t, t[:5]], n)[0],
    "foreach number to the": lambda t, n: torch._foreach_pow(abs(n), [t, t[:5]])[0],
}  # fmt: skip


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", NEARLY)
def test_powers_and_multiples_beside_halves_are_those_of_the_cpu(name, dtype):
    """The last bit in float32 (of a power, or of a product that is added) may tip the rounding to the half: of 5 in
    1000 results, where the number as it is written would move 30 to 500."""
    x, function = halves(dtype).abs(), NEARLY[name]
    for number in NUMBERS:
        want, got = function(x, number), function(x.npu(), number).cpu()
        assert (got != want).float().mean() < 0.005, f"{name} of {number}"
        torch.testing.assert_close(got, want, rtol=torch.finfo(dtype).eps, atol=torch.finfo(dtype).tiny)


UNCASTABLE = {
    "add_": lambda i, f: i.add_(f), "sub_": lambda i, f: i.sub_(f), "mul_": lambda i, f: i.mul_(f),
    "div_": lambda i, f: i.div_(f), "pow_": lambda i, f: i.pow_(f), "fmod_": lambda i, f: i.fmod_(f),
    "remainder_": lambda i, f: i.remainder_(f), "atan2_": lambda i, f: i.atan2_(f),
    "add_ of a number": lambda i, f: i.add_(0.5), "mul_ of a number": lambda i, f: i.mul_(0.5),
    "pow_ of a number": lambda i, f: i.pow_(0.5), "div_ of whole numbers": lambda i, f: i.div_(i),
    "bool add_ of integers": lambda i, f: (i > 0).add_(i), "float add_ of complex": lambda i, f: f.add_(1j),
}  # fmt: skip


@pytest.mark.parametrize("name", UNCASTABLE)
def test_results_that_cannot_be_cast_are_refused(name):
    for device in ("cpu", "npu"):
        whole, real = torch.arange(1, 5, device=device), torch.full((4,), 1.5, device=device)
        with pytest.raises(RuntimeError, match="can't be cast|cannot be cast"):
            UNCASTABLE[name](whole, real)
        torch.testing.assert_close(whole.cpu(), torch.arange(1, 5), msg=f"{device}: the operand was changed")


@pytest.mark.parametrize("change", [operator.iadd, operator.imul, operator.imod], ids=str)
def test_results_that_can_be_cast_are_not(change):
    for mine, other in [(torch.float16, torch.float32), (torch.float32, torch.int64), (torch.int32, torch.int64),
                        (torch.int64, torch.bool), (torch.complex64, torch.float32)]:  # fmt: skip
        if mine.is_complex and change is operator.imod:
            continue
        want, got = [change(torch.arange(1, 5, device=d).to(mine), torch.ones(4, device=d).to(other)).cpu()
                     for d in ("cpu", "npu")]  # fmt: skip
        torch.testing.assert_close(got, want)


def test_flip_names_each_dimension_once():
    for device in ("cpu", "npu"):
        for dims in ([0, 0], [1, -1]):
            with pytest.raises(RuntimeError, match="multiple times|twice"):
                torch.ones(2, 3, device=device).flip(dims)


def test_complex_random_numbers():
    torch.npu.manual_seed(5)
    normal, uniform = (f(200_000, dtype=torch.complex64, device="npu").cpu() for f in (torch.randn, torch.rand))
    torch.npu.manual_seed(5)
    assert torch.equal(torch.randn(200_000, dtype=torch.complex64, device="npu").cpu(), normal)
    # 200,000 draws: means and variances within 6 standard deviations of the estimate (0.0016 to 0.007).
    for part in (normal.real, normal.imag):
        assert abs(part.mean()) < 0.01 and abs(part.var() - 0.5) < 0.01
    for part in (uniform.real, uniform.imag):
        assert (
            part.min() >= 0 and part.max() < 1 and abs(part.mean() - 0.5) < 0.004 and abs(part.var() - 1 / 12) < 0.002
        )
    for drawn in (normal, uniform):
        assert abs(torch.corrcoef(torch.stack([drawn.real, drawn.imag]))[0, 1]) < 0.015
    assert torch.randn(3, dtype=torch.complex128, device="npu").dtype == torch.complex128
    assert torch.randn(2, 3, dtype=torch.complex64, device="npu").mT.contiguous().cpu().isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_renorm_by_the_number_of_elements(dtype):
    """torch's CPU refuses p = 0 and the vendor's tests expect the count of what is not zero."""
    torch.manual_seed(1)
    x = (torch.randn(4, 5) * (torch.rand(4, 5) > 0.5)).to(dtype)
    for maxnorm in (1.0, 2.0):
        count = (x != 0).sum(1, keepdim=True)
        factor = torch.where(count > maxnorm, maxnorm / (count + 1e-7), 1.0)
        want = (x.double() * factor.double()).to(dtype)
        torch.testing.assert_close(torch.renorm(x.npu(), 0, 0, maxnorm).cpu(), want, rtol=1e-3, atol=1e-6)
    with pytest.raises(RuntimeError, match="may be negative"):
        torch.renorm(x.npu(), -1, 0, 1.0)
    # The same norm in an embedding, where torch's CPU has it.
    want, got = [torch.nn.functional.embedding(torch.tensor([0, 2, 0], device=d), x.float().clone().to(d), max_norm=1.0,
                                               norm_type=0.0).cpu() for d in ("cpu", "npu")]  # fmt: skip
    torch.testing.assert_close(got, want)


def test_addr_of_bools():
    corners = [torch.tensor([False, True]), torch.tensor([True, True]), torch.tensor([False, False])]
    for left in corners:
        for right in corners:
            for self in (torch.tensor([[True, False], [False, True]]), torch.tensor([False, True])):
                for beta in (True, False):
                    for alpha in (True, False):
                        want, got = [torch.addr(self.to(d), left.to(d), right.to(d), beta=beta, alpha=alpha).cpu()
                                     for d in ("cpu", "npu")]  # fmt: skip
                        assert got.dtype == torch.bool and torch.equal(got, want)
    own = torch.zeros(2, 2, dtype=torch.bool, device="npu")
    assert torch.equal(
        own.addr_(corners[0].npu(), corners[1].npu()).cpu(), torch.tensor([[False, False], [True, True]])
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("width", [(), (3,)], ids=["numbers", "rows"])
def test_coalesce(dtype, width):
    torch.manual_seed(2)
    indices = torch.randint(0, 4, (2, 40))
    values = torch.randint(-9, 9, (40, *width)).to(dtype)
    results = []
    for device in ("cpu", "npu"):
        sparse = torch.sparse_coo_tensor(indices.to(device), values.to(device), (4, 4, *width))
        assert not sparse.is_coalesced()
        done = sparse.coalesce()
        assert done.is_coalesced()
        results.append([done.indices().cpu(), done.values().cpu(), sparse.to_dense().cpu()])
    for want, got in zip(*results, strict=True):
        assert got.dtype == want.dtype and torch.equal(got, want)


@pytest.mark.parametrize("shape", [(3,), (400, 700)], ids=["small", "large"])
def test_a_bad_index_is_told_by_the_call_that_brings_it(shape):
    table = torch.zeros(10, 64, device="npu")
    index = torch.zeros(shape, dtype=torch.int64)
    index.view(-1)[-1] = 10
    position = index.numel() - 1
    for call in (torch.nn.functional.embedding, lambda i, t: t[i], lambda i, t: t.index_select(0, i.flatten())):
        with pytest.raises(RuntimeError, match=f"ind(ex|ices.*) holds 10 at position {position} .* takes .* to 9"):
            call(index.npu(), table)
    # It was told: the stream goes on.
    assert torch.equal((table + 1).cpu(), torch.ones(10, 64))
