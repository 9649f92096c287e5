# SPDX-License-Identifier: Apache-2.0
"""Whether the NPU's tensors are the CPU's. A sample is a function of a place: it moves what it needs with `place`,
runs, and gives its results and gradients as a list of tensors."""

import torch

# Looser than bitwise because sums run in another order; torch's own device tests use the same numbers.
TOLERANCE = {
    torch.float32: {"rtol": 1e-4, "atol": 1e-5},
    torch.float16: {"rtol": 2e-3, "atol": 2e-3},
    torch.bfloat16: {"rtol": 1.6e-2, "atol": 1e-2},
    torch.complex64: {"rtol": 1e-4, "atol": 1e-5},
    torch.float64: {"rtol": 1e-7, "atol": 1e-7},
}
EXACT = {"rtol": 0, "atol": 0}

# What a type's results are measured against where the CPU rounds too.
WIDER = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}


def tree(function, value):
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        made = [tree(function, v) for v in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if isinstance(value, dict):
        return {k: tree(function, v) for k, v in value.items()}
    return value


def tensors(value):
    found = []
    tree(found.append, value)
    return found


def here(value):
    """The place that is the CPU. As elsewhere, a tensor that is two arguments becomes two."""
    return tree(lambda t: t.detach().requires_grad_(t.requires_grad), value)


def npu(value):
    if isinstance(value, torch.device) or (isinstance(value, str) and value == "cpu"):
        return torch.device("npu")
    return tree(lambda t: t.detach().to("npu").requires_grad_(t.requires_grad), value)


def wider(value):
    """The CPU with types that round less."""
    return tree(lambda t: t.detach().to(WIDER.get(t.dtype, t.dtype)).requires_grad_(t.requires_grad), value)


def weighted(out):
    """A sum in which no two elements count alike: plain sums have gradients of 0 where something is normalised."""
    weights = torch.linspace(0.5, 1.5, out.numel()).reshape(out.shape)
    return ((out.abs() if out.is_complex() else out) * weights.to(out.device, out.real.dtype)).sum()


def outcome(out, leaves, backward):
    """The tensors of `out`, and with `backward` the gradients of their sum."""
    outs = tensors(out)
    scalars = [o for o in outs if o.requires_grad]
    grads = []
    if backward and leaves and scalars:
        grads = torch.autograd.grad(sum(map(weighted, scalars)), leaves, allow_unused=True)
    return [o.detach() for o in outs] + [g for g in grads if g is not None]


def distance(got, exact):
    """The largest; a result that is no number where there is one is infinitely far."""
    same = (got == exact) | (got.isnan() & exact.isnan())
    return torch.where(same, 0.0, (got - exact).abs().nan_to_num(nan=torch.inf)).max()


def is_nearer(got, want, exact):
    """Whether `got` is within twice the distance that `want`, the CPU's result in the same type, has from its result in
    a wider type: the CPU rounds some results twice, as a transposed convolution before it adds the bias."""
    if got.shape != want.shape:
        return False
    widest = torch.complex128 if want.is_complex() else torch.float64
    got, want, exact = (t.to(widest) for t in (got, want, exact))
    return bool(distance(got, exact) <= 2 * distance(want, exact))


def tolerance(want, dtype):
    if not (want.is_floating_point() or want.is_complex()):
        return EXACT
    return TOLERANCE.get(dtype, TOLERANCE[torch.float32])


def check(sample, want, dtype):
    """Raises when what `sample` gives on the NPU is not `want`."""
    for at, (g, w) in enumerate(zip(sample(npu), want, strict=True)):
        try:
            torch.testing.assert_close(g.cpu(), w, equal_nan=True, check_dtype=False, **tolerance(w, dtype))
        except AssertionError:
            if w.dtype not in WIDER or not is_nearer(g.cpu(), w, sample(wider)[at]):
                raise
