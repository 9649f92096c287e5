# SPDX-License-Identifier: Apache-2.0
"""Operators along axes."""

import numpy as np


def axes(f):
    """None stands for all axes."""
    dim = f.dim
    if dim is None or dim == []:
        return None
    return tuple(dim) if isinstance(dim, list) else dim


def along(function):
    return lambda f: function(np.asarray(f.self), axis=axes(f))


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x, axis):
    moved = x - x.max(axis, keepdims=True)
    return moved - np.log(np.exp(moved).sum(axis, keepdims=True))


def softmax_backward(f):
    g, y = f.grad_output, f.output
    return y * (g - (g * y).sum(f.dim, keepdims=True))


def log_softmax_backward(f):
    g = f.grad_output
    return g - np.exp(f.output) * g.sum(f.dim, keepdims=True)


def variance(f):
    x, axis = f.self, axes(f)
    count = x.size if axis is None else np.prod([x.shape[i] for i in np.atleast_1d(axis)])
    return x.mean(axis), ((x - x.mean(axis, keepdims=True)) ** 2).sum(axis) / (count - (f.correction or 0))


def vector_norm(f):
    x = np.abs(f.self)
    if np.isinf(f.ord):
        return x.max(axes(f)) if f.ord > 0 else x.min(axes(f))
    if f.ord == 0:
        return (x != 0).sum(axes(f))
    total = (x**f.ord).sum(axes(f))
    return total ** (1 / f.ord) if f.root is not False else total


REFERENCES = {
    "sum": along(np.sum),
    "mean": along(np.mean),
    "prod": along(np.prod),
    "amax": along(np.max),
    "amin": along(np.min),
    "any": along(lambda x, axis: np.any(x != 0, axis=axis)),
    "all": along(lambda x, axis: np.all(x != 0, axis=axis)),
    "var": lambda f: {"out": variance(f)[1], "mean": variance(f)[0]},
    "cumsum": lambda f: np.cumsum(f.self, f.dim),
    "argmax": lambda f: np.argmax(f.self, axes(f)),
    "argmin": lambda f: np.argmin(f.self, axes(f)),
    "vector_norm": vector_norm,
    "softmax": lambda f: softmax(f.self, f.dim),
    "log_softmax": lambda f: log_softmax(f.self, f.dim),
    "softmax_backward": softmax_backward,
    "log_softmax_backward": log_softmax_backward,
}
