# SPDX-License-Identifier: Apache-2.0
"""Convolutions, by windows: any number of spatial axes, groups, strides, dilation; transposed ones as gradients."""

import numpy as np

from anynpu.self_check.element import UnknownError


class Windows:
    """The places of an input, padded, that each tap of a kernel reads."""

    def __init__(self, f, shape, taps):
        self.rank = len(shape) - 2
        self.stride, self.dilation = self.each(f.stride), self.each(f.dilation)
        padding = list(f.padding)
        sides = len(padding) == 2 * self.rank > self.rank
        self.before = padding[::2] if sides else self.each(padding)
        self.after = padding[1::2] if sides else self.before
        self.shape, self.taps = shape, taps

    def each(self, values):
        values = list(values) if isinstance(values, list) else [values]
        return values * self.rank if len(values) == 1 else values

    def padded(self, x):
        return np.pad(x, [(0, 0), (0, 0), *zip(self.before, self.after, strict=True)])

    def cropped(self, x):
        inner = [slice(b, b + n) for b, n in zip(self.before, self.shape[2:], strict=True)]
        return x[(slice(None), slice(None), *inner)]

    def at(self, tap, out):
        """The slices of the padded input under one tap, for outputs of `out` places."""
        moves = zip(tap, self.dilation, self.stride, out, strict=True)
        return (slice(None), slice(None), *(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, s, n in moves))

    def each_tap(self):
        return np.ndindex(*self.taps)


def grouped(x, groups):
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, -1)


def of_groups(weight, tap, groups):
    one = weight[(slice(None), slice(None), *tap)]
    return one.reshape(groups, one.shape[0] // groups, one.shape[1])


def forward(f, x, w, out):
    windows = Windows(f, x.shape, w.shape[2:])
    padded, total = windows.padded(x), 0
    for tap in windows.each_tap():
        seen = grouped(padded[windows.at(tap, out)], f.groups)
        total = total + np.einsum("goc,bgcp->bgop", of_groups(w, tap, f.groups), seen, optimize=True)
    return total.reshape(x.shape[0], w.shape[0], *out)


def input_gradient(f, g, w, shape):
    windows = Windows(f, shape, w.shape[2:])
    padded = windows.padded(np.zeros(shape))
    for tap in windows.each_tap():
        part = np.einsum("goc,bgop->bgcp", of_groups(w, tap, f.groups), grouped(g, f.groups), optimize=True)
        padded[windows.at(tap, g.shape[2:])] += part.reshape(shape[0], shape[1], *g.shape[2:])
    return windows.cropped(padded)


def weight_gradient(f, g, x, shape):
    windows = Windows(f, x.shape, shape[2:])
    padded, out = windows.padded(x), np.zeros(shape)
    for tap in windows.each_tap():
        seen = grouped(padded[windows.at(tap, g.shape[2:])], f.groups)
        part = np.einsum("bgop,bgcp->goc", grouped(g, f.groups), seen, optimize=True)
        out[(slice(None), slice(None), *tap)] = part.reshape(shape[0], shape[1])
    return out


def convolution(f):
    out = f.shapes["out"][0]
    if f.transposed:
        result = input_gradient(f, f.input, f.weight, tuple(out))
    else:
        result = forward(f, f.input, f.weight, tuple(out[2:]))
    return result if f.bias is None else result + f.bias.reshape(-1, *[1] * (result.ndim - 2))


def convolution_backward(f):
    if f.transposed:
        raise UnknownError("there is no reference for the gradient of a transposed convolution")
    g, made = f.grad_output, {}
    if "grad_input" in f.shapes:
        made["grad_input"] = input_gradient(f, g, f.weight, f.input.shape)
    if "grad_weight" in f.shapes:
        made["grad_weight"] = weight_gradient(f, g, f.input, f.weight.shape)
    if "grad_bias" in f.shapes:
        made["grad_bias"] = g.sum((0, *range(2, g.ndim)))
    return made


REFERENCES = {"convolution": convolution, "convolution_backward": convolution_backward}
