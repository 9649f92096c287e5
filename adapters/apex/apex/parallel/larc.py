# SPDX-License-Identifier: Apache-2.0
"""Layer-wise adaptive rates: each weight's gradient is scaled by the ratio of its norm to the gradient's."""

import torch


class LARC:
    """Around an optimizer. With `clip` the layer's rate is at most the group's lr; without it, it multiplies lr."""

    def __init__(self, optimizer, trust_coefficient=0.02, clip=True, eps=1e-8):
        self.optim, self.trust_coefficient, self.clip, self.eps = optimizer, trust_coefficient, clip, eps

    def __getattr__(self, name):
        if name == "optim":
            raise AttributeError(name)
        return getattr(self.optim, name)

    def __repr__(self):
        return f"LARC({self.optim!r})"

    @property
    def param_groups(self):
        return self.optim.param_groups

    @param_groups.setter
    def param_groups(self, value):
        self.optim.param_groups = value

    def _scale(self, parameter, decay, lr):
        size, slope = parameter.norm(), parameter.grad.norm()
        rate = self.trust_coefficient * size / (slope + size * decay + self.eps)
        if self.clip:
            rate = (rate / lr).clamp(max=1)
        scaled = (parameter.grad + decay * parameter) * rate
        parameter.grad.copy_(torch.where((size != 0) & (slope != 0), scaled, parameter.grad))

    def step(self, closure=None):
        decays = [group.get("weight_decay", 0) for group in self.optim.param_groups]
        with torch.no_grad():
            for group, decay in zip(self.optim.param_groups, decays, strict=True):
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self._scale(parameter, decay, group["lr"])
                group["weight_decay"] = 0
        try:
            return self.optim.step() if closure is None else self.optim.step(closure)
        finally:
            for group, decay in zip(self.optim.param_groups, decays, strict=True):
                group["weight_decay"] = decay
