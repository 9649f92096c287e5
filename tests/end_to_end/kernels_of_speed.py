# SPDX-License-Identifier: Apache-2.0
"""The kernels that docs/speed.md times, at sizes that take each of their ways, forward and backward."""

import torch
import torch.nn.functional as F

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def with_gradients(f):
    def run(inputs):
        inputs = [x.detach().requires_grad_() for x in inputs]
        y = f(*inputs)
        # Numbers that every dtype has.
        seed = torch.randn(y.shape, generator=torch.Generator().manual_seed(12)).bfloat16().to(y)
        return [y.detach(), *torch.autograd.grad(y, inputs, seed)]

    return run


def conv(stride):
    return with_gradients(lambda x, w: F.conv2d(x, w, stride=stride, padding=w.shape[-1] // 2))


def depthwise(stride):
    return with_gradients(lambda x, w: F.conv2d(x, w, stride=stride, padding=w.shape[-1] // 2, groups=len(w)))


def lstm(x, w_ih, w_hh, b_ih, b_hh):
    zeros = x.new_zeros(1, x.shape[1], w_hh.shape[1])
    # An eighth: gates of sums that large would be 0 or 1.
    weights = [w_ih / 8, w_hh / 8, b_ih, b_hh]
    return torch.lstm(x, (zeros, zeros), weights, True, 1, 0.0, True, False, False)[0]


KERNELS = {
    "mm 300x700x260": (lambda x: [x[0] @ x[1]], [(300, 700), (700, 260)]),
    "mm of columns 300x700x260": (lambda x: [x[0] @ x[1].t()], [(300, 700), (260, 700)]),
    "deep mm 40x20000x48": (lambda x: [x[0].t() @ x[1]], [(20000, 40), (20000, 48)]),
    "deep mm of columns 40x20000x48": (lambda x: [x[0] @ x[1].t()], [(40, 20000), (48, 20000)]),
    "conv 3x3 64 of 28^2": (conv(1), [(4, 64, 28, 28), (64, 64, 3, 3)]),
    "conv 3x3 128 to 160 of 7^2": (conv(1), [(4, 128, 7, 7), (160, 128, 3, 3)]),
    "conv 3x3 stride 2": (conv(2), [(4, 32, 28, 28), (48, 32, 3, 3)]),
    "conv 1x1": (conv(1), [(4, 96, 28, 28), (64, 96, 1, 1)]),
    "conv 7x7 stem": (conv(2), [(4, 3, 64, 64), (32, 3, 7, 7)]),
    "depthwise conv 5x5": (depthwise(1), [(4, 40, 28, 28), (40, 1, 5, 5)]),
    "depthwise conv 3x3 stride 2": (depthwise(2), [(4, 40, 28, 28), (40, 1, 3, 3)]),
    "LSTM": (with_gradients(lstm), [(24, 17, 40), (192, 40), (192, 48), (192,), (192,)]),
    "layer norm": (
        with_gradients(lambda x, w, b: F.layer_norm(x, (768,), w, b)),
        [(512, 768), (768,), (768,)],
    ),
    "softmax": (with_gradients(lambda x: torch.softmax(x, -1)), [(1024, 128)]),
    "GELU": (with_gradients(F.gelu), [(512, 768)]),
    "batch norm": (
        with_gradients(lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True)),
        [(8, 32, 28, 28), (32,), (32,)],
    ),
}
CASES = [f"{name} {dtype}" for dtype in DTYPES for name in KERNELS]


def case(name):
    """(function of a list of inputs to a list of results, inputs, dtype)."""
    kernel, dtype = name.rsplit(" ", 1)
    function, shapes = KERNELS[kernel]
    random = torch.Generator().manual_seed(11)
    return function, [torch.randn(s, generator=random).to(DTYPES[dtype]) for s in shapes], DTYPES[dtype]
