# SPDX-License-Identifier: Apache-2.0
"""What the NPU's optimizers of TensorFlow 1 have in common: an optimizer of tf.train inside, which does the work."""

import tensorflow.compat.v1 as tf


class WrappedOptimizer(tf.train.Optimizer):
    """An optimizer around another one, which answers whatever this one does not do itself: slots, variables, settings.
    The variables are named as without it, so that checkpoints of one are read by the other."""

    def __init__(self, optimizer, name):
        if not isinstance(optimizer, tf.train.Optimizer):
            raise ValueError(f"{type(self).__name__} takes an optimizer of tf.train, not {optimizer!r}")
        self._opt = optimizer
        super().__init__(use_locking=False, name=name)

    def __getattr__(self, name):
        if name == "_opt":  # not there before __init__, as in a copy
            raise AttributeError(name)
        return getattr(self._opt, name)

    def compute_gradients(self, *arguments, **named):
        """As tf.train.Optimizer's."""
        return self._opt.compute_gradients(*arguments, **named)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """As tf.train.Optimizer's."""
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *arguments, **named):
        """That of the optimizer inside."""
        return self._opt.get_slot(*arguments, **named)

    def get_slot_names(self, *arguments, **named):
        """Those of the optimizer inside."""
        return self._opt.get_slot_names(*arguments, **named)

    def variables(self):
        """Those of the optimizer inside."""
        return self._opt.variables()

    def _create_slots(self, var_list):
        self._opt._create_slots(var_list)

    def _trackable_children(self, *arguments, **named):
        """tf.train.Checkpoint saves what the optimizer inside has."""
        return self._opt._trackable_children(*arguments, **named)

    def _lookup_dependency(self, *arguments, **named):
        return self._opt._lookup_dependency(*arguments, **named)

    def _create_or_restore_slot_variable(self, *arguments, **named):
        return self._opt._create_or_restore_slot_variable(*arguments, **named)
