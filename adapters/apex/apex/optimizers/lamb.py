# SPDX-License-Identifier: Apache-2.0
"""LAMB: Adam without bias correction, each layer's rate scaled by the norm of its weight over that of its step."""

from .fused import NpuFused, PerTensor


class Lamb(PerTensor):
    """`adam` fixes the ratio at 1; with `use_global_grad_norm` gradients with a norm above 1 are divided by it."""

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0, adam=False, use_global_grad_norm=False
    ):
        self._check_range(lr=lr, beta1=(betas[0], 1), beta2=(betas[1], 1), eps=eps, weight_decay=weight_decay)
        self.adam, self.use_global_grad_norm, self._norm = adam, use_global_grad_norm, 1.0
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def _before(self):
        self._norm = self._global_norm() if self.use_global_grad_norm else 1.0

    def _ratio(self, parameter, step):
        size, length = parameter.norm().clamp(0, 10), step.norm()
        return (size / length).where((size != 0) & (length != 0), size.new_ones(()))

    def _update(self, parameter, grad, group):
        state = self._state_of(parameter, ("exp_avg", "exp_avg_sq"))
        state["step"] += 1
        beta1, beta2 = group["betas"]
        grad = grad / self._norm if self._norm > 1 else grad
        mean = state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1)
        square = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        step = mean / square.sqrt().add_(group["eps"])
        if group["weight_decay"]:
            step.add_(parameter, alpha=group["weight_decay"])
        if not self.adam:
            step.mul_(self._ratio(parameter, step))
        parameter.add_(step, alpha=-group["lr"])


class NpuFusedLamb(NpuFused, Lamb):
    pass
