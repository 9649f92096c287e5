# SPDX-License-Identifier: Apache-2.0
"""amp.init: Apex's first interface, which casts functions and scales losses through a handle."""

from contextlib import contextmanager

from . import loss, optimizer, patch, scaler
from .cast import disable_casts
from .options import Options
from .state import STATE


class Handle:
    def __init__(self, enabled):
        self.enabled = enabled

    def is_active(self):
        return STATE.casting

    @contextmanager
    def scale_loss(self, value, of_optimizer):
        if self.enabled and not hasattr(of_optimizer, "_amp_stash"):
            optimizer.process(of_optimizer, STATE.options)
        with loss.scale_loss(value, of_optimizer) as scaled:
            yield scaled

    def _disable_casts(self):
        return disable_casts()

    def wrap_optimizer(self, *_, **__):
        text = "amp.init: wrap_optimizer is not built; use amp.initialize with num_losses, and scale_loss with loss_id"
        raise NotImplementedError(text)


def init(enabled=True, loss_scale="dynamic", enable_caching=True, verbose=False, allow_banned=False):
    """O1 for functions alone; `enable_caching` is taken and the copies of weights are always kept for an iteration."""
    options = Options(enabled=enabled, patch_torch_functions=True, loss_scale=loss_scale)
    STATE.options, STATE.scalers = options, scaler.made(options)
    STATE.casting, STATE.verbosity = enabled, int(verbose)
    if enabled:
        patch.apply(allow_banned=allow_banned)
    return Handle(enabled)
