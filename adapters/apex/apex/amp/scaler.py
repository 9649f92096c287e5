# SPDX-License-Identifier: Apache-2.0
"""The scale of a loss, fixed or following overflows."""

import torch

from .state import say


def _has_infinities():
    """Whether the NPU computes infinities, or saturates and raises a flag (the first generation)."""
    import torch_npu

    return torch_npu.npu.utils.is_support_inf_nan()


def _flagged(found):
    """Whether any rank has `found` an overflow, or its NPU has saturated since the flag was cleared."""
    import torch_npu

    flag = found or bool(torch_npu.npu.get_npu_overflow_flag())
    dist = torch.distributed
    if dist.is_available() and dist.is_initialized():
        shared = torch.tensor([float(flag)], device="npu")
        dist.all_reduce(shared)
        flag = shared.item() > 0
    return flag


class LossScaler:
    def __init__(
        self,
        loss_scale,
        init_scale=2.0**16,
        scale_factor=2.0,
        scale_window=2000,
        min_loss_scale=None,
        max_loss_scale=2.0**24,
        backoff_factor=None,
    ):
        self.dynamic = loss_scale == "dynamic"
        self._loss_scale = min(max_loss_scale, init_scale) if self.dynamic else loss_scale
        self._growth, self._backoff = scale_factor, backoff_factor or 1 / scale_factor
        self._window, self._least, self._most = scale_window, min_loss_scale, max_loss_scale
        self._unskipped = 0
        self._found = None  # a tensor: above 0 after an infinity or a NaN

    def loss_scale(self):
        return self._loss_scale

    def clear_overflow_state(self):
        """Before a backward. What an earlier one with delayed overflow check has found is kept."""
        if not _has_infinities():
            import torch_npu

            torch_npu.npu.clear_npu_overflow_flag()

    def unscale(self, grads):
        """Divides the gradients by the scale, in place, and remembers whether one is not finite."""
        by_type = {}
        for grad in grads:
            by_type.setdefault((grad.device, grad.dtype), []).append(grad)
        for (device, _), same in by_type.items():
            if self._found is None:
                self._found = torch.zeros(1, device=device)
            inverse = torch.full((1,), 1 / self._loss_scale, device=device)
            torch._amp_foreach_non_finite_check_and_unscale_(same, self._found, inverse)

    def _overflowed(self):
        found = self._found is not None and self._found.item() > 0
        self._found = None
        return found if _has_infinities() else _flagged(found)

    def update_scale(self):
        """After a backward: moves the scale; True if the step must be skipped."""
        if not self.dynamic:
            self._found = None
            self._unskipped += 1
            return False
        if self._overflowed():
            self._loss_scale = max(self._loss_scale * self._backoff, self._least or 0.0)
            self._unskipped = 0
            return True
        self._unskipped += 1
        if self._unskipped >= self._window:
            self._loss_scale = min(self._loss_scale * self._growth, self._most)
            self._unskipped = 0
        return False

    def state_dict(self):
        return {"loss_scale": self._loss_scale, "unskipped": self._unskipped}

    def load_state_dict(self, state):
        self._loss_scale, self._unskipped = state["loss_scale"], state["unskipped"]


def made(options):
    """A scaler for each loss."""
    return [
        LossScaler(
            options.loss_scale,
            options.dynamic_init_scale,
            options.scale_growth_factor,
            options.scale_window,
            options.min_loss_scale,
            options.max_loss_scale,
            options.scale_backoff_factor,
        )
        for _ in range(options.num_losses)
    ]


def tell_overflow(loss_id, scaler):
    say(
        f"amp: the gradients of loss {loss_id} overflowed: this step is skipped, its scale is {scaler.loss_scale()} now"
    )
