# SPDX-License-Identifier: Apache-2.0
"""What the NPU's optimizers share: they work with amp only, and clip their own gradients."""

import torch


class NpuFused:
    """Before torch's class of an optimizer in the list of bases."""

    is_npu_fused_optimizer = True

    def _check_amp(self):
        if not hasattr(self, "_amp_stash"):
            name = type(self).__name__
            raise RuntimeError(f"apex.optimizers.{name} works with amp: pass it through amp.initialize first")

    def step(self, closure=None):
        self._check_amp()
        return super().step(closure)

    def clip_optimizer_grad_norm_fused(self, max_norm, norm_type=2):
        """Clips the norm of all gradients together, after scale_loss and before step; the norm that they had."""
        self._check_amp()
        parameters = [parameter for group in self.param_groups for parameter in group["params"]]
        return torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type)


class PerTensor(torch.optim.Optimizer):
    """A step that is `_update(parameter, its gradient, group, state)` for each parameter with a gradient."""

    @staticmethod
    def _check_range(**values):
        """Each value at least 0; a pair (value, limit) below the limit too."""
        for name, given in values.items():
            value, limit = given if isinstance(given, tuple) else (given, float("inf"))
            if not 0 <= value < limit:
                raise ValueError(
                    f"{name} is {value}; it must be at least 0" + (f" and below {limit}" if limit == 1 else "")
                )

    def _state_of(self, parameter, names):
        state = self.state[parameter]
        if not state:
            state["step"] = 0
        for name in names:
            if name not in state:
                state[name] = torch.zeros_like(parameter)
        return state

    def _before(self):
        """Once a step, before the parameters."""

    def _grads(self):
        return [p.grad for group in self.param_groups for p in group["params"] if p.grad is not None]

    def _global_norm(self):
        grads = self._grads()
        return torch.linalg.vector_norm(torch.stack(torch._foreach_norm(grads))).item() if grads else 0.0

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._before()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                if parameter.grad.is_sparse:
                    raise RuntimeError(f"{type(self).__name__} does not take sparse gradients")
                self._update(parameter, parameter.grad, group)
        return loss
