# SPDX-License-Identifier: Apache-2.0
"""Cases of element-wise functions: one line serves a function and its in-place form."""

import inspect

import torch
from case import FUNCTIONS, REAL, T, case

SHAPE = (4, 5)


def _named(oracle, names):
    """An oracle that takes arguments by name. torch's own functions get all values in the order of the line."""
    try:
        if set(inspect.signature(oracle).parameters) <= set(names):
            return oracle
    except ValueError:
        pass  # built in: no signature

    def wrapped(**values):
        return oracle(*[values[n] for n in names])

    wrapped.__signature__ = inspect.Signature([inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in names])
    return wrapped


def both(names, oracle, dtypes=REAL, elementwise=True, layouts=None, **values):
    """Cases for each of `names` (without aclnn) and its Inplace form, where the tables have them."""
    options = {"elementwise": elementwise} | ({"layouts": layouts} if layouts else {})
    found = [n for name in names.split() for n in (f"aclnn{name}", f"aclnnInplace{name}") if n in FUNCTIONS]
    if not found:
        raise KeyError(f"no function of the tables is called {names}")
    for full in found:
        case(full, _named(oracle, list(values)), dtypes, **options, **values)


def unary(names, oracle, dtypes=REAL, low=-2.0, high=2.0, **options):
    """The same for functions of one tensor called self, drawn from [low, high)."""
    both(names, oracle, dtypes, self=T(*SHAPE, low=low, high=high), **options)


def _edge_values(_):
    inf, nan = float("inf"), float("nan")
    return torch.tensor([0.0, -0.0, inf, -inf, nan, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 50.0, -50.0, 1e4, -1e4, 1e-3])


def edges(names, oracle, dtypes=REAL, **values):
    """One more run of each function with self over signed zeros, infinities, NaN and large values."""
    both(names, oracle, dtypes, elementwise=False, layouts=("plain",),
         self=T(16, values=_edge_values), **values)  # fmt: skip
