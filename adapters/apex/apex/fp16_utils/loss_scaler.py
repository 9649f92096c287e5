# SPDX-License-Identifier: Apache-2.0
"""Loss scales for training loops written by hand."""

import torch


class LossScaler:
    """A fixed scale."""

    def __init__(self, scale=1):
        self.cur_scale = scale

    @property
    def loss_scale(self):
        return self.cur_scale

    def has_overflow(self, params):
        return False

    def update_scale(self, overflow):
        pass

    def backward(self, loss, retain_graph=False):
        (loss.float() * self.loss_scale).backward(retain_graph=retain_graph)


class DynamicLossScaler(LossScaler):
    """A scale that falls at an overflow and rises after `scale_window` steps without one."""

    def __init__(self, init_scale=2**32, scale_factor=2.0, scale_window=1000):
        super().__init__(init_scale)
        self.cur_iter, self.last_overflow_iter = 0, -1
        self.scale_factor, self.scale_window = scale_factor, scale_window

    def has_overflow(self, params):
        grads = [parameter.grad for parameter in params if parameter.grad is not None]
        return any(not torch.isfinite(grad).all().item() for grad in grads)

    def update_scale(self, overflow):
        if overflow:
            self.cur_scale = max(self.cur_scale / self.scale_factor, 1)
            self.last_overflow_iter = self.cur_iter
        elif (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
            self.cur_scale *= self.scale_factor
        self.cur_iter += 1
