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


def fixed(values, spatial, otherwise=None):
    values = list(values) if values else otherwise
    return values * spatial if len(values) == 1 else values


class MaxWindows:
    """Each tap of the windows as slices of the padded input; images are the last axes."""

    def __init__(self, f, out):
        n = f.spatial
        self.taps = fixed(f.kernel_size, n)
        self.stride, self.dilation = fixed(f.stride, n, self.taps), fixed(f.dilation, n, [1])
        padding = list(f.padding or [0])
        sides = len(padding) == 2 * n > n
        self.before = padding[::2] if sides else fixed(padding, n)
        # A last window may reach beyond the padding.
        reach = [
            (o - 1) * s + (k - 1) * d + 1 for o, s, k, d in zip(out, self.stride, self.taps, self.dilation, strict=True)
        ]
        last = f.self.shape[-n:]
        self.after = [max(0, r - b - size) for r, b, size in zip(reach, self.before, last, strict=True)]
        self.out, self.inner = out, [slice(b, b + size) for b, size in zip(self.before, last, strict=True)]

    def padded(self, x, value):
        rest = [(0, 0)] * (x.ndim - len(self.out))
        return np.pad(x, [*rest, *zip(self.before, self.after, strict=True)], constant_values=value)

    def each(self):
        for tap in np.ndindex(*self.taps):
            moves = zip(tap, self.dilation, self.stride, self.out, strict=True)
            yield (..., *(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, s, n in moves))


def max_pool(f):
    windows = MaxWindows(f, f.shapes["out"][0][-f.spatial :])
    padded = windows.padded(f.self, -np.inf)
    return {"out": np.max([padded[at] for at in windows.each()], axis=0)}


def max_pool_backward(f):
    """The first of equal maxima gets the gradient."""
    g = f.grad_output
    windows = MaxWindows(f, g.shape[-f.spatial :])
    padded = windows.padded(f.self, -np.inf)
    best = np.argmax([padded[at] for at in windows.each()], axis=0)
    grad = np.zeros_like(padded)
    for number, at in enumerate(windows.each()):
        grad[at] += np.where(best == number, g, 0.0)
    return grad[(..., *windows.inner)]


REFERENCES = {
    **dict.fromkeys(("max_pool", "max_pool_mask", "max_pool_indices"), max_pool),
    **{f"max_pool{kind}_backward": max_pool_backward for kind in ("", "_mask", "_indices")},
    "adaptive_avg_pool": adaptive_avg_pool,
    "adaptive_avg_pool_backward": adaptive_avg_pool_backward,
}
