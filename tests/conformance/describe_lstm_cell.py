# SPDX-License-Identifier: Apache-2.0
"""Cases of one step of an LSTM and its gradient."""

import torch
from case import T, case

KINDS = [torch.float32, torch.float16, torch.bfloat16]
B, H = 5, 7


def cell(input_gates, hidden_gates, cx, input_bias, hidden_bias):
    biases = 0 if input_bias is None else input_bias + hidden_bias
    i, f, g, o = (input_gates + hidden_gates + biases).chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)


def gradient(grad_hy, grad_cy, cx, cy, storage, has_bias):
    i, f, g, o = storage.chunk(4, 1)
    tanhc = cy.tanh()
    dh = torch.zeros_like(cx) if grad_hy is None else grad_hy
    dc = dh * o * (1 - tanhc**2) + (0 if grad_cy is None else grad_cy)
    gates = torch.cat([dc * g * i * (1 - i), dc * cx * f * (1 - f), dc * i * (1 - g**2), dh * tanhc * o * (1 - o)], 1)
    return gates, dc * f, gates.sum(0) if has_bias else None


for bias in (None, T(4 * H)):
    case("aclnnThnnFusedLstmCell", cell, KINDS, input_gates=T(B, 4 * H), hidden_gates=T(B, 4 * H), cx=T(B, H),
         input_bias=bias, hidden_bias=bias)  # fmt: skip
for dh, dc in ((T(B, H), T(B, H)), (None, T(B, H)), (T(B, H), None)):
    for has_bias in (True, False):
        case("aclnnThnnFusedLstmCellBackward", gradient, KINDS, grad_hy=dh, grad_cy=dc, cx=T(B, H), cy=T(B, H),
             storage=T(B, 4 * H, low=0.1, high=0.9), has_bias=has_bias)  # fmt: skip
