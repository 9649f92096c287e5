# SPDX-License-Identifier: Apache-2.0
"""Cases of losses and their gradients (see case.py for the form)."""

import torch
from case import T, case

aten = torch.ops.aten


def labels(shape, classes, ignore=None):
    def make(generator):
        made = torch.randint(0, classes, shape, generator=generator)
        if ignore is not None and made.numel() > 1:
            made.view(-1)[1] = ignore
        return made

    return make


def nll(self, target, weight, reduction, ignore_index):
    function = aten.nll_loss2d_forward if self.dim() == 4 else aten.nll_loss_forward
    return function(self, target.long(), weight, reduction, ignore_index)


def nll_gradient(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    function = aten.nll_loss2d_backward if self.dim() == 4 else aten.nll_loss_backward
    return function(
        grad_output.contiguous(), self.contiguous(), target.long(), weight, reduction, ignore_index, total_weight
    )


for shape in [(8, 5), (5,), (2, 5, 3, 4)]:
    places = shape[:1] + shape[2:] if len(shape) > 1 else ()
    name = "aclnnNLLLoss2d" if len(shape) == 4 else "aclnnNLLLoss"
    for reduction in (0, 1, 2):
        for weight, ignore, integer in [(None, -100, torch.int64), (T(5, low=0.5, high=2), 3, torch.int32)]:
            target = T(*places, dtype=integer, values=labels(places, 5, ignore))
            target.values = lambda g, make=target.values, integer=integer: make(g).to(integer)
            common = {"target": target, "weight": weight, "reduction": reduction, "ignore_index": ignore}
            case(name, nll, self=T(*shape, low=-4, high=0), **common)
            case(name + "Backward", nll_gradient, self=T(*shape), grad_output=T(*(places if reduction == 0 else ())),
                 total_weight=T(low=3, high=6), **common)  # fmt: skip
