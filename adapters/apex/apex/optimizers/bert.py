# SPDX-License-Identifier: Apache-2.0
"""BERT's Adam: no bias correction, weight decay beside the gradient, and a schedule of its own."""

import math

from .fused import NpuFused, PerTensor


def _after_warmup(schedule):
    def factor(progress, warmup):
        return progress / warmup if progress < warmup else schedule(progress, warmup)

    return factor


SCHEDULES = {
    "warmup_cosine": _after_warmup(lambda progress, warmup: 0.5 * (1 + math.cos(math.pi * progress))),
    "warmup_constant": _after_warmup(lambda progress, warmup: 1.0),
    "warmup_linear": _after_warmup(lambda progress, warmup: max((progress - 1) / (warmup - 1), 0.0)),
    "warmup_poly": _after_warmup(lambda progress, warmup: max(1 - progress, 0.0) ** 0.5),
}


class NpuFusedBertAdam(NpuFused, PerTensor):
    """`warmup` is the share of `t_total` steps; -1 means none, and a constant rate for `t_total`.

    `max_grad_norm` above 0 divides gradients by their norm where that is above 1, whatever its own value.
    """

    def __init__(
        self,
        params,
        lr,
        warmup=-1,
        t_total=-1,
        schedule="warmup_linear",
        b1=0.9,
        b2=0.99,
        e=1e-6,
        weight_decay=0.01,
        max_grad_norm=-1,
    ):
        self._check_range(lr=lr, b1=(b1, 1), b2=(b2, 1), e=e)
        if warmup != -1:
            self._check_range(warmup=(warmup, 1))
        if schedule not in SCHEDULES:
            raise ValueError(f"schedule is {schedule!r}; it takes {', '.join(SCHEDULES)}")
        defaults = {"lr": lr, "warmup": warmup, "t_total": t_total, "schedule": schedule, "b1": b1, "b2": b2, "e": e}
        self._norm = 1.0
        super().__init__(params, defaults | {"weight_decay": weight_decay, "max_grad_norm": max_grad_norm})

    def _before(self):
        clips = any(group["max_grad_norm"] > 0 for group in self.param_groups)
        self._norm = self._global_norm() if clips else 1.0

    def _rate(self, group, step):
        if group["t_total"] == -1:
            return group["lr"]
        return group["lr"] * SCHEDULES[group["schedule"]](step / group["t_total"], group["warmup"])

    def _update(self, parameter, grad, group):
        state = self._state_of(parameter, ("exp_avg", "exp_avg_sq"))
        if group["max_grad_norm"] > 0 and 1 < self._norm < math.inf:
            grad = grad / self._norm
        mean = state["exp_avg"].mul_(group["b1"]).add_(grad, alpha=1 - group["b1"])
        square = state["exp_avg_sq"].mul_(group["b2"]).addcmul_(grad, grad, value=1 - group["b2"])
        update = mean / square.sqrt().add_(group["e"])
        if group["weight_decay"] > 0:
            update.add_(parameter, alpha=group["weight_decay"])
        parameter.add_(update, alpha=-self._rate(group, state["step"]))
        state["step"] += 1
