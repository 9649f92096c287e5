# SPDX-License-Identifier: Apache-2.0
"""FP16_Optimizer: an optimizer of a half model that steps on float32 masters and scales losses itself."""

import torch

from ..amp.options import Options
from ..amp.scaler import LossScaler
from ..amp.stash import Stash


class FP16_Optimizer:  # noqa: N801
    def __init__(
        self,
        init_optimizer,
        static_loss_scale=1.0,
        dynamic_loss_scale=False,
        dynamic_loss_args=None,
        verbose=True,
    ):
        self.optimizer, self.verbose, self.overflow = init_optimizer, verbose, False
        arguments = (dynamic_loss_args or {}) if dynamic_loss_scale else {}
        self.loss_scaler = LossScaler("dynamic" if dynamic_loss_scale else float(static_loss_scale), **arguments)
        self._stash = self.optimizer._amp_stash = Stash(Options(master_weights=True))
        for group in self.optimizer.param_groups:
            self._take(group)

    def _take(self, group):
        for index, weight in enumerate(group["params"]):
            group["params"][index] = master = self._stash.add(weight)
            if master is not weight and weight in self.optimizer.state:
                self.optimizer.state[master] = self.optimizer.state.pop(weight)

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    @property
    def state(self):
        return self.optimizer.state

    @property
    def loss_scale(self):
        return self.loss_scaler.loss_scale()

    def add_param_group(self, group):
        self.optimizer.add_param_group(group)
        self._take(self.optimizer.param_groups[-1])

    def zero_grad(self, set_grads_to_None=False):  # noqa: N803
        self._stash.zero_grad(set_grads_to_None)

    def backward(self, loss, update_master_grads=True, retain_graph=False):
        """With `update_master_grads=False` gradients stay scaled, until update_master_grads is called."""
        self._stash.before_backward(self.loss_scale)
        self.loss_scaler.clear_overflow_state()
        (loss.float() * self.loss_scale).backward(retain_graph=retain_graph)
        self._stash.is_scaled = True
        if update_master_grads:
            self.update_master_grads()

    def update_master_grads(self):
        self._stash.after_backward(self.loss_scaler)
        self._stash.is_scaled = False
        self.overflow = self.loss_scaler.update_scale()

    def step(self, closure=None):
        if closure is not None:
            raise NotImplementedError("apex.fp16_utils.FP16_Optimizer: step with a closure is not built; call backward")
        if self.overflow:
            if self.verbose:
                print(f"FP16_Optimizer: the gradients overflowed: step skipped, the scale is {self.loss_scale} now")
            return None
        result = self.optimizer.step()
        self._stash.masters_to_model()
        return result

    def clip_master_grads(self, max_norm, norm_type=2):
        """The norm that the gradients had, or -1 after an overflow."""
        if self.overflow:
            return -1
        masters = [parameter for group in self.param_groups for parameter in group["params"]]
        return torch.nn.utils.clip_grad_norm_(masters, max_norm, norm_type)

    def inspect_master_grad_data(self):
        """Gradients of the masters, a list for each group; None after an overflow."""
        if self.overflow:
            return None
        grads = [[parameter.grad for parameter in group["params"]] for group in self.param_groups]
        return [[None if grad is None else grad.detach() for grad in group] for group in grads]

    def state_dict(self):
        return {
            "loss_scaler": self.loss_scaler.state_dict(),
            "overflow": self.overflow,
            "optimizer_state_dict": self.optimizer.state_dict(),
            "fp32_from_fp16": [master.detach().clone() for _, master in self._stash.pairs],
        }

    @torch.no_grad()
    def load_state_dict(self, state):
        self.loss_scaler.load_state_dict(state["loss_scaler"])
        self.overflow = state["overflow"]
        self.optimizer.load_state_dict(state["optimizer_state_dict"])
        for (_, master), saved in zip(self._stash.pairs, state["fp32_from_fp16"], strict=True):
            master.copy_(saved)
        self._stash.masters_to_model()
