# SPDX-License-Identifier: Apache-2.0
"""How far rounding can carry a sum of products, s = sum t, in a type whose rounding is at most u. Always, in any order,

    |error| <= gamma(n) sum |t|,   gamma(n) = n u / (1 - n u),

of n roundings on the way of each term. That is far too much for a long sum. Each rounding moves a partial sum s_k by at
most u |s_k|, up or down as it happens; by Hoeffding's inequality |error| > LAMBDA u sqrt(sum s_k^2) has the probability
2 exp(-LAMBDA^2 / 2). Partial sums of terms whose signs have nothing to do with their order are a line to s with a
Brownian bridge around it, sum s_k^2 <= n (s^2 + BRIDGE sum t^2), so that

    |error| <= LAMBDA u sqrt(n (s^2 + BRIDGE sum t^2)).

The smaller of both counts. Blocks and lanes only make partial sums fewer and smaller."""

import numpy as np

from anynpu.self_check.element import epsilon
from anynpu.self_check.evaluate import COMPUTES_IN, Fields, Shake, fields_of, plain_results
from anynpu.self_check.reference import REFERENCES

LAMBDA = 8.0  # 2.5e-14: less than one element in all that a training run writes
BRIDGE = 5.0  # the integral of a squared bridge is more once in exp(5 pi^2 / 2) = 5e10 sums; its mean is 1/6


def reduced(f):
    """Elements that come together in one."""
    return f.self.size // max(int(np.prod(f.shapes["out"][0], dtype=int)), 1)


def taps(f, channels):
    return int(np.prod(f.weight.shape[2:])) * channels // max(f.groups, 1)


def of_convolution(f):
    return {"out": 1 + taps(f, f.input.shape[1])}


def of_convolution_backward(f):
    each = f.grad_output.size // f.grad_output.shape[1]
    return {"grad_input": taps(f, f.grad_output.shape[1]), "grad_weight": each, "grad_bias": each}


def of_product(left):
    return lambda f: {"out": getattr(f, left).shape[-1] + 3}  # alpha, beta and the addend


# The number of roundings on the way of one term, by result.
TERMS = {
    **dict.fromkeys(("mm", "matmul", "batch_matmul", "mv", "dot"), of_product("self")),
    "addmm": of_product("mat1"),
    "baddbmm": of_product("batch1"),
    "convolution": of_convolution,
    "convolution_backward": of_convolution_backward,
    "sum": lambda f: {"out": reduced(f)},
    "mean": lambda f: {"out": reduced(f) + 1},
    "cumsum": lambda f: {"out": f.self.shape[f.dim]},
    "embedding_dense_backward": lambda f: {"grad_weight": f.indices.size + 1, "out": f.indices.size + 1},
    "segment": lambda f: {"out": f.index.size},
}


def error(n, unit, total, absolute, squares):
    """The bound of sums, of n terms each, from the sums of their terms, their magnitudes and their squares."""
    always = n * unit / (1 - n * unit) * absolute if n * unit < 1 else np.inf
    return np.minimum(always, LAMBDA * unit * np.sqrt(n * (total**2 + BRIDGE * squares)))


def each(f, change):
    """The fields with `change` made in their numbers: of a sum of products, it is made in each term."""

    def one(value):
        floats = isinstance(value, np.ndarray) and value.dtype.kind == "f" or isinstance(value, float)
        return change(value) if floats else value

    return Fields({name: one(value) for name, value in f.values.items()}, f.dtypes, f.shapes)


def unit_of(dtype):
    """Half of epsilon is what one rounding may do; where NumPy computes in the same type, it errs as much."""
    computed = COMPUTES_IN.get(dtype, dtype)
    return epsilon(computed) * (1.0 if computed == "float64" else 0.5)


def bounds(task):
    """{number of a tensor: bound of each element's error before it is rounded to its type}, where it can be told."""
    if "parts" in task.text or len(task.calls) != 1:
        return {}
    call = task.calls[0]
    if call["op"] not in TERMS or call["fields"].get("chain"):
        return {}

    def form(text):
        return task.tensors[text["tensor"]]

    def read(text):
        one = form(text)
        return task.array(text["tensor"], "before") if one["before"] is not None else None

    def made(change):
        return plain_results(call, form, read, Shake(), lambda f: REFERENCES[call["op"]](each(f, change)))

    counts = TERMS[call["op"]](fields_of(call, form, read, Shake()))
    names = {call["fields"][name]["tensor"]: name for name in counts if call["fields"].get(name)}
    out = {}
    for (to, total), (_, absolute), (_, squared) in zip(made(np.positive), made(np.abs), made(np.square), strict=True):
        if (number := to["tensor"]) in names:
            n = counts[names[number]]
            squared = squared / n if call["op"] == "mean" else squared  # each term is divided, not its square
            out[number] = error(n, unit_of(form(to)["dtype"]), total, absolute, squared)
    return out
