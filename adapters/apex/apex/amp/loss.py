# SPDX-License-Identifier: Apache-2.0
"""amp.scale_loss: around each backward."""

from contextlib import contextmanager

from .scaler import tell_overflow
from .state import STATE


def _stashes(optimizers):
    found = list(optimizers) if isinstance(optimizers, (list, tuple)) else [optimizers]
    for optimizer in found:
        if not hasattr(optimizer, "_amp_stash"):
            kind = type(optimizer).__name__
            raise RuntimeError(f"amp.scale_loss: this {kind} has not been through amp.initialize")
    return [optimizer._amp_stash for optimizer in found]


def _scaler(loss_id):
    if not 0 <= loss_id < len(STATE.scalers):
        text = f"amp.scale_loss: loss_id is {loss_id}, initialize was called with num_losses={len(STATE.scalers)}"
        raise ValueError(text)
    return STATE.scalers[loss_id]


def _finish(stashes, scaler, loss_id, delay_overflow_check):
    for stash in stashes:
        stash.after_backward(scaler)
        stash.is_scaled = False
    if not delay_overflow_check and scaler.update_scale():
        tell_overflow(loss_id, scaler)
        for stash in stashes:
            stash.skip = True


def _needs_nothing(options, scaler):
    """Gradients of a fixed scale of 1 without masters are right as they come; combined ones still need their buffer."""
    return not (options.master_weights or options.combine_grad or scaler.dynamic) and scaler.loss_scale() == 1.0


@contextmanager
def scale_loss(loss, optimizers, loss_id=0, model=None, delay_unscale=False, delay_overflow_check=False):
    """Yields the scaled loss; on exit the gradients lose the scale, and an overflow makes the next step a skipped one.

    `model` is taken for scripts that pass it. With `delay_unscale` gradients stay scaled, for a later backward.
    """
    if STATE.options is None:
        raise RuntimeError("amp.scale_loss: call amp.initialize first")
    if not STATE.options.enabled:
        yield loss
        return
    scaler, stashes = _scaler(loss_id), _stashes(optimizers)
    if _needs_nothing(STATE.options, scaler):
        yield loss.float()
        STATE.cached.clear()
        return
    for stash in stashes:
        stash.before_backward(scaler.loss_scale())
    scaler.clear_overflow_state()
    yield loss.float() * scaler.loss_scale()
    STATE.cached.clear()
    if delay_unscale:
        for stash in stashes:
            stash.is_scaled = True
    else:
        _finish(stashes, scaler, loss_id, delay_overflow_check)
