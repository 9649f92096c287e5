# SPDX-License-Identifier: Apache-2.0
"""Normalisation over the batch and over rows."""

import numpy as np


def rows(x, f):
    """`x` as rows of what is normalised together."""
    return x.reshape(-1, int(np.prod(f.normalized_shape)))


def flat(x, otherwise):
    return otherwise if x is None else x.reshape(-1)


def layer_norm(f):
    x = rows(f.self, f)
    mean = x.mean(1, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(1, keepdims=True) + f.eps)
    return {"out": (x - mean) * rstd * flat(f.weight, 1.0) + flat(f.bias, 0.0), "mean": mean, "rstd": rstd}


def row_gradient(f, mean, rstd):
    x, g = rows(f.self, f), rows(f.grad_output, f)
    normal, scaled = (x - mean) * rstd, g * flat(f.weight, 1.0)
    inner = scaled - scaled.mean(1, keepdims=True) - normal * (scaled * normal).mean(1, keepdims=True)
    return {"grad_input": inner * rstd, "grad_weight": (g * normal).sum(0), "grad_bias": g.sum(0)}


def layer_norm_backward(f):
    return row_gradient(f, f.mean.reshape(-1, 1), f.rstd.reshape(-1, 1))


def layer_norm_gradient(f):
    x = rows(f.self, f)
    mean = x.mean(1, keepdims=True)
    return row_gradient(f, mean, 1 / np.sqrt(((x - mean) ** 2).mean(1, keepdims=True) + f.eps))


def rms_norm(f):
    x = f.self if f.residual is None else f.self + f.residual
    axes = tuple(range(x.ndim - f.gamma.ndim, x.ndim))
    rstd = 1 / np.sqrt((x * x).mean(axes, keepdims=True) + f.eps)
    return {"out": x * rstd * (f.gamma + (f.offset or 0)), "rstd": rstd, "sum": x}


def channels(values, x, otherwise):
    return otherwise if values is None else values.reshape(-1, *[1] * (x.ndim - 2))


def moments(f, x):
    axes = (0, *range(2, x.ndim))
    if not f.training:
        return f.running_mean, f.running_var
    return x.mean(axes), x.var(axes)


def batch_norm(f):
    x = f.self
    mean, variance = moments(f, x)
    invstd = 1 / np.sqrt(variance + f.eps)
    out = (x - channels(mean, x, 0)) * channels(invstd, x, 1)
    made = {"out": out * channels(f.weight, x, 1.0) + channels(f.bias, x, 0.0)}
    if not f.training:
        return made
    made |= {"save_mean": mean, "save_invstd": invstd, "save_var": variance}
    return made | running(f, mean, variance, x.size / x.shape[1])


def running(f, mean, variance, count):
    made = {}
    if f.running_mean is not None:
        made["running_mean"] = (1 - f.momentum) * f.running_mean + f.momentum * mean
    if f.running_var is not None:
        unbiased = variance * count / max(count - 1, 1)
        made["running_var"] = (1 - f.momentum) * f.running_var + f.momentum * unbiased
    return made


def saved(f):
    if not f.training:
        return f.running_mean, 1 / np.sqrt(f.running_var + f.eps)
    return f.save_mean, f.save_invstd if f.save_invstd is not None else 1 / np.sqrt(f.save_var + f.eps)


def batch_norm_backward(f):
    x, g = f.self, f.grad_output
    mean, invstd = (channels(one, x, 0) for one in saved(f))
    normal, axes = (x - mean) * invstd, (0, *range(2, x.ndim))
    inner = g
    if f.training:
        inner = g - g.mean(axes, keepdims=True) - normal * (g * normal).mean(axes, keepdims=True)
    grad = inner * invstd * channels(f.weight, x, 1.0)
    return {"grad_input": grad, "grad_weight": (g * normal).sum(axes), "grad_bias": g.sum(axes)}


REFERENCES = {
    "layer_norm": layer_norm,
    "layer_norm_backward": layer_norm_backward,
    "layer_norm_gradient": layer_norm_gradient,
    "rms_norm": rms_norm,
    "batch_norm": batch_norm,
    "batch_norm_backward": batch_norm_backward,
}
