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


def reduced(function, *names):
    """The loss and the gradient with respect to its first tensor, from autograd."""

    def value(reduction, **tensors):
        return function(reduction=("none", "mean", "sum")[reduction], **tensors)

    def gradient(grad_output, self, reduction, **tensors):
        with torch.enable_grad():
            x = self.detach().clone().requires_grad_()
            value(reduction, self=x, **tensors).backward(grad_output)
        return x.grad

    # The harness reads the arguments from the signature.
    rest = ", ".join(names)
    pairs = ", ".join(f"{n}={n}" for n in ("self", *names))
    scope = {"value": value, "gradient": gradient}
    forward = eval(f"lambda self, {rest}, reduction: value(reduction, {pairs})", scope)
    pairs = ", ".join(f"{n}={n}" for n in names)
    return forward, eval(
        f"lambda grad_output, self, {rest}, reduction: gradient(grad_output, self, reduction, {pairs})", scope
    )


F = torch.nn.functional
POINTWISE = {
    "MseLoss": (reduced(lambda self, target, reduction: F.mse_loss(self, target, reduction=reduction), "target"), {}),
    "L1Loss": (reduced(lambda self, target, reduction: F.l1_loss(self, target, reduction=reduction), "target"), {}),
    "SmoothL1Loss": (
        reduced(lambda self, target, beta, reduction: F.smooth_l1_loss(self, target, reduction=reduction, beta=beta),
                "target", "beta"), {"beta": 0.75}),
    "SoftMarginLoss": (
        reduced(lambda self, target, reduction: F.soft_margin_loss(self, target, reduction=reduction), "target"), {}),
    "BinaryCrossEntropy": (
        reduced(lambda self, target, weight, reduction: F.binary_cross_entropy(
            self, target, weight, reduction=reduction), "target", "weight"), {"weight": T(5, low=0.5, high=2)}),
    "BinaryCrossEntropyWithLogits": (
        reduced(lambda self, target, weight, pos_weight, reduction: F.binary_cross_entropy_with_logits(
            self, target, weight, reduction=reduction, pos_weight=pos_weight), "target", "weight", "pos_weight"),
        {"weight": T(5, low=0.5, high=2), "pos_weight": T(5, low=0.5, high=3)}),
    "KlDiv": (
        reduced(lambda self, target, log_target, reduction: F.kl_div(self, target, reduction=reduction,
                                                                     log_target=log_target), "target", "log_target"),
        {"log_target": False}),
}  # fmt: skip

for name, ((forward, backward), extra) in POINTWISE.items():
    unit = name in ("BinaryCrossEntropy", "KlDiv")
    x, y = T(9, 5, low=0.05 if unit else -3, high=0.95 if unit else 3), T(9, 5, low=0.05 if unit else -1, high=0.95)
    variants = [extra]
    if name == "KlDiv":
        variants.append({"log_target": True})
    if "weight" in extra:
        variants.append(dict.fromkeys(extra))
    for values in variants:
        for reduction in (0, 1, 2):
            case(f"aclnn{name}", forward, self=x, target=y, reduction=reduction, **values)
            case(f"aclnn{name}Backward", backward, self=x, target=y, reduction=reduction,
                 grad_output=T(*((9, 5) if reduction == 0 else ())), **values)  # fmt: skip


def kl_target_gradient(grad_output, self, target, reduction, log_target):
    with torch.enable_grad():
        y = target.detach().clone().requires_grad_()
        F.kl_div(self, y, reduction=("none", "mean", "sum")[reduction], log_target=log_target).backward(grad_output)
    return y.grad


for log_target in (False, True):
    for reduction in (0, 1, 2):
        grad = T(*((9, 5) if reduction == 0 else ()))
        for low in (0.1, -1):  # of a negative one the logarithm is no number
            case("aclnnKlDivTargetBackward", kl_target_gradient, self=T(9, 5), target=T(9, 5, low=low, high=1),
                 reduction=reduction, log_target=log_target, grad_output=grad)  # fmt: skip
case("aclnnMseLoss", POINTWISE["MseLoss"][0][0], self=T(300, 701), target=T(300, 701), reduction=1)
case("aclnnSmoothL1Loss", POINTWISE["SmoothL1Loss"][0][0], self=T(9, 5), target=T(9, 5), reduction=1, beta=0.0)
