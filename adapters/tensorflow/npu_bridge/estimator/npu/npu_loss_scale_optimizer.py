# SPDX-License-Identifier: Apache-2.0
"""Loss scaling for graphs of TensorFlow 1 that sees overflow on an NPU, as npu_device.train.optimizer does for Keras's
optimizers."""

import warnings

import tensorflow.compat.v1 as tf
from npu_device import device, overflow_word
from npu_device.distribute import hccl
from npu_device.setting import overflow

from npu_bridge.estimator.npu.npu_loss_scale_manager import FixedLossScaleManager
from npu_bridge.estimator.npu.wrapped_optimizer import WrappedOptimizer

__all__ = ["NPULossScaleOptimizer"]


def _warn_where_nothing_is_seen():
    if device.is_open() and overflow.undetected(device.number()):
        warnings.warn("a scaled loss is trained, but no overflow is seen: this NPU saturates, and the option "
                      "overflow_flag is 0; leave it at 1", stacklevel=5)  # fmt: skip


def step_is_finite(grads_and_vars, is_distributed=False):
    """Whether the gradients are, and the device saw no overflow; with `is_distributed`, in all processes. Both are
    asked for: a device may go from one mode to the other under a graph that is built."""
    _warn_where_nothing_is_seen()
    values = overflow_word.values_of([g for g, _ in grads_and_vars])
    with overflow_word.marked(), tf.name_scope("overflow"):
        finite = [tf.reduce_all(tf.math.is_finite(v)) for v in values]
        here = tf.reduce_all(tf.stack([overflow_word.is_clear(values), *finite]))
        return hccl.agreed(here) if is_distributed else here


def scaled(loss, scale):
    """The loss, a tensor or a function that gives one, multiplied."""
    loss = loss() if callable(loss) else loss
    return loss * tf.cast(scale, loss.dtype.base_dtype)


def unscaled(grads_and_vars, scale):
    """The gradients, divided by what their loss was multiplied by."""
    inverse = tf.reciprocal(scale)

    def one(gradient):
        if isinstance(gradient, tf.IndexedSlices):
            return tf.IndexedSlices(one(gradient.values), gradient.indices, gradient.dense_shape)
        return None if gradient is None else gradient * tf.cast(inverse, gradient.dtype.base_dtype)

    return [(one(g), v) for g, v in grads_and_vars]


def _checks_overflow(manager):
    return not isinstance(manager, FixedLossScaleManager) or manager.get_enable_overflow_check()


def apply_where_finite(optimizer, manager, grads_and_vars, global_step, name, is_distributed=False):
    """An operation that applies the gradients, or leaves out the step, and then lets the manager count it. Neither
    variables nor `global_step` change in a step that is left out. With `is_distributed` all processes leave out the
    same steps."""
    grads_and_vars = list(grads_and_vars)
    with tf.init_scope():  # in the branch below they would get its name
        optimizer._create_slots([v for g, v in grads_and_vars if g is not None])

    def apply():
        return optimizer.apply_gradients(grads_and_vars, global_step, name)

    if not _checks_overflow(manager):
        return tf.group(apply(), manager.update_loss_scale(tf.constant(True)))
    finite = step_is_finite(grads_and_vars, is_distributed)
    return tf.group(tf.cond(finite, apply, tf.no_op), manager.update_loss_scale(finite))


class NPULossScaleOptimizer(WrappedOptimizer):
    """Around an optimizer of tf.train: the loss is multiplied by the manager's scale, the gradients are divided by it.
    A step overflowed when the device says so (saturation mode) or a gradient is not finite; it is left out, and the
    manager changes its scale. With is_distributed, which it is also inside or around an NPUDistributedOptimizer, a step
    overflowed when it did in any of the processes."""

    def __init__(self, opt, loss_scale_manager, is_distributed=False):
        super().__init__(opt, f"NPULossScaleOptimizer{type(opt).__name__}")
        self._loss_scale_manager = loss_scale_manager
        self._is_distributed = is_distributed or getattr(opt, "_is_distributed", False)

    def compute_gradients(self, loss, *arguments, **named):
        """As tf.train.Optimizer's; `loss` may be a tensor or a function that gives one."""
        scale = tf.identity(self._loss_scale_manager.get_loss_scale())
        return unscaled(self._opt.compute_gradients(scaled(loss, scale), *arguments, **named), scale)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """As tf.train.Optimizer's, of gradients that compute_gradients gave."""
        manager, distributed = self._loss_scale_manager, self._is_distributed
        return apply_where_finite(self._opt, manager, grads_and_vars, global_step, name, distributed)
