# SPDX-License-Identifier: Apache-2.0
"""By how much NPULossScaleOptimizer multiplies a loss, and what the scale becomes after a step."""

import tensorflow.compat.v1 as tf

__all__ = ["ExponentialUpdateLossScaleManager", "FixedLossScaleManager"]
LARGEST_SCALE = 3.4e38  # a scale that would pass it stays as it is


class FixedLossScaleManager:
    """A scale that stays. With enable_overflow_check=False every step is applied, whatever overflowed."""

    def __init__(self, loss_scale, enable_overflow_check=True):
        if loss_scale < 1:
            raise ValueError(f"loss_scale is {loss_scale}; it must be 1 or more")
        self._loss_scale = tf.convert_to_tensor(loss_scale, tf.float32, name="loss_scale")
        self._enable_overflow_check = enable_overflow_check

    def get_loss_scale(self):
        """The scale, a float32 scalar."""
        return self._loss_scale

    def get_enable_overflow_check(self):
        """Whether steps that overflow are left out."""
        return self._enable_overflow_check

    def update_loss_scale(self, finite_grads):
        """An operation that does nothing: the scale stays, whatever `finite_grads` is."""
        return tf.no_op()


class ExponentialUpdateLossScaleManager:
    """A scale that is multiplied by `incr_ratio` after `incr_every_n_steps` steps in a row without overflow, and by
    `decr_ratio`, never below 1, after `decr_every_n_nan_or_inf` steps with; a change begins both counts anew. Steps
    without overflow do not take back those counted with one."""

    def __init__(self, init_loss_scale, incr_every_n_steps, decr_every_n_nan_or_inf=2, incr_ratio=2, decr_ratio=0.8):
        _check(init_loss_scale, incr_every_n_steps, decr_every_n_nan_or_inf, incr_ratio, decr_ratio)
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._loss_scale = _variable("loss_scale", float(init_loss_scale), tf.float32)
        self._num_good_steps = _variable("good_steps", 0, tf.int32)
        self._num_bad_steps = _variable("bad_steps", 0, tf.int32)

    def get_loss_scale(self):
        """The scale, a variable."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads):
        """An operation that counts a step, finite or not as the boolean tensor says, and changes the scale."""
        return tf.cond(finite_grads, self._after_good_step, self._after_bad_step)

    def _after_good_step(self):
        grows = self._num_good_steps + 1 >= self._incr_every_n_steps
        return tf.cond(grows, self._grow, lambda: tf.group(tf.assign_add(self._num_good_steps, 1)))

    def _after_bad_step(self):
        shrinks = self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf
        return tf.cond(shrinks, self._shrink, self._count_bad_step)

    def _count_bad_step(self):
        return tf.group(tf.assign_add(self._num_bad_steps, 1), tf.assign(self._num_good_steps, 0))

    def _grow(self):
        fits = self._loss_scale < LARGEST_SCALE / self._incr_ratio
        return self._become(self._loss_scale * tf.where(fits, float(self._incr_ratio), 1.0))

    def _shrink(self):
        return self._become(tf.maximum(1.0, self._loss_scale * self._decr_ratio))

    def _become(self, scale):
        counts = (tf.assign(count, 0) for count in (self._num_good_steps, self._num_bad_steps))
        return tf.group(tf.assign(self._loss_scale, scale), *counts)


def _variable(name, value, dtype):
    return tf.Variable(tf.constant(value, dtype), trainable=False, name=name)


def _check(scale, good_steps, bad_steps, incr_ratio, decr_ratio):
    wrong = [
        f"{name} is {value}; it must be {rule}"
        for name, value, well, rule in (
            ("init_loss_scale", scale, scale >= 1, "1 or more"),
            ("incr_every_n_steps", good_steps, good_steps >= 1, "1 or more"),
            ("decr_every_n_nan_or_inf", bad_steps, bad_steps >= 1, "1 or more"),
            ("incr_ratio", incr_ratio, incr_ratio >= 1, "1 or more"),
            ("decr_ratio", decr_ratio, 0 < decr_ratio <= 1, "above 0 and at most 1"),
        )
        if not well
    ]
    if wrong:
        raise ValueError("; ".join(wrong))
