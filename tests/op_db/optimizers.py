# SPDX-License-Identifier: Apache-2.0
"""optim_db: each optimizer with each of its settings, some steps, as a loop, with lists of tensors and fused."""

from functools import partial

import torch
from comparison import tensors
from torch.testing._internal.common_optimizers import optim_db

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.complex64]
STEPS = 4


def ways(info):
    return ["loop", *(way for way in ("foreach", "fused") if way in info.supported_impls)]


def parameters(info, dtype):
    shapes = [(5, 4), (3, 3)] if info.name == "Muon" else [(5, 4), (7,)]  # Muon takes matrices alone
    return [torch.randn(shape, dtype=torch.float64).to(dtype) for shape in shapes]


def scales(info, dtype):
    """The loss has a minimum: where it has none, steps run away and no two roundings agree."""
    return [(0.5 + p.abs()).to(dtype) for p in parameters(info, dtype)]


def gradients(optimizer, params, factors, sparse):
    """A closure: products of elements, so that gradients have no sums whose order could differ."""

    def step():
        optimizer.zero_grad()
        loss = sum((p * scale * p.conj()).real.sum() for p, scale in zip(params, factors, strict=True))
        loss.backward()
        for p in params if sparse else []:
            p.grad = p.grad.to_sparse()
        return loss

    return step


def run(info, settings, start, factors, place):
    params = [place(p).detach().clone().requires_grad_() for p in start]
    optimizer = info.optim_cls(params, **settings)
    closure = gradients(optimizer, params, place(factors), info.only_supports_sparse_grads)
    for _ in range(STEPS):
        optimizer.step(closure)
    # At the minimum, which LBFGS reaches, its directions are rounding noise.
    states = [] if info.name == "LBFGS" else [list(s.values()) for s in optimizer.state.values()]
    return [t.detach() for t in params + tensors(states)]


def samples(info, dtype, way):
    flags = {one: one == way for one in ways(info)[1:]}
    for made in info.optim_inputs_func("cpu"):
        yield partial(run, info, made.kwargs | flags, parameters(info, dtype), scales(info, dtype))


def cases(dtype):
    """{name: a generator of samples}; names are as in optim.Adam.fused."""
    if dtype not in DTYPES:
        return {}
    there = [info for info in optim_db if info.supports_complex or not dtype.is_complex]
    return {f"optim.{info.name}.{way}": partial(samples, info, dtype, way) for info in there for way in ways(info)}
