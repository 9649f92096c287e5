# SPDX-License-Identifier: Apache-2.0
"""AdamP: Adam whose steps leave out what would only lengthen a weight that is invariant to its length."""

import math

from .fused import NpuFused, PerTensor


def _is_across(grad, weight, eps, delta):
    """Whether a gradient stands nearly upright on its weight, row by row."""
    lengths = grad.norm(dim=1).add_(eps) * weight.norm(dim=1).add_(eps)
    return ((grad * weight).sum(dim=1).abs() / lengths).max() < delta / math.sqrt(weight.size(1))


def _projected(parameter, grad, step, group):
    """The step, without its part along the weight where that is invariant; and whether it is."""
    if parameter.dim() > 1:
        for rows in (parameter.size(0), 1):  # by channel, then as a whole
            weight = parameter.reshape(rows, -1)
            if _is_across(grad.reshape(rows, -1), weight, group["eps"], group["delta"]):
                unit = weight / weight.norm(dim=1, keepdim=True).add_(group["eps"])
                flat = step.reshape(rows, -1)
                flat = flat - unit * (unit * flat).sum(dim=1, keepdim=True)
                return flat.view_as(parameter), True
    return step, False


class NpuFusedAdamP(NpuFused, PerTensor):
    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        delta=0.1,
        wd_ratio=0.1,
        nesterov=False,
    ):
        self._check_range(lr=lr, beta1=(betas[0], 1), beta2=(betas[1], 1), eps=eps, weight_decay=weight_decay)
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults | {"delta": delta, "wd_ratio": wd_ratio, "nesterov": nesterov})

    def _update(self, parameter, grad, group):
        state = self._state_of(parameter, ("exp_avg", "exp_avg_sq"))
        state["step"] += 1
        beta1, beta2 = group["betas"]
        mean = state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1)
        square = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        root = square.sqrt().div_(math.sqrt(1 - beta2 ** state["step"])).add_(group["eps"])
        step = (mean * beta1).add_(grad, alpha=1 - beta1).div_(root) if group["nesterov"] else mean / root
        step, is_projected = _projected(parameter, grad, step, group)
        if group["weight_decay"] > 0:
            ratio = group["wd_ratio"] if is_projected else 1
            parameter.mul_(1 - group["lr"] * group["weight_decay"] * ratio)
        parameter.add_(step, alpha=-group["lr"] / (1 - beta1 ** state["step"]))
