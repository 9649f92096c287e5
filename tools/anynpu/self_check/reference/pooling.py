# SPDX-License-Identifier: Apache-2.0
"""Means and extremes of adaptive windows."""

import numpy as np


def bounds(size, parts):
    return [(i * size // parts, -(-(i + 1) * size // parts)) for i in range(parts)]


def each_window(shape, out):
    """(place of the result, slices of the input), over the last axes."""
    sides = [bounds(size, parts) for size, parts in zip(shape[-len(out) :], out, strict=True)]
    for place in np.ndindex(*out):
        yield (..., *place), (..., *(slice(*side[i]) for side, i in zip(sides, place, strict=True)))


def adaptive_avg_pool(f):
    shape = f.shapes["out"][0]
    out, last = np.zeros(shape), shape[-f.spatial :]
    for place, window in each_window(f.self.shape, last):
        out[place] = f.self[window].mean(tuple(range(-f.spatial, 0)))
    return out


def adaptive_avg_pool_backward(f):
    grad = np.zeros(f.self.shape)
    for place, window in each_window(grad.shape, f.grad_output.shape[-f.spatial :]):
        count = np.prod(grad[window].shape[-f.spatial :])
        grad[window] += f.grad_output[place].reshape(*f.grad_output.shape[: -f.spatial], *[1] * f.spatial) / count
    return grad


REFERENCES = {"adaptive_avg_pool": adaptive_avg_pool, "adaptive_avg_pool_backward": adaptive_avg_pool_backward}
