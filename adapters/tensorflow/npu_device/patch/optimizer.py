# SPDX-License-Identifier: Apache-2.0
"""Warnings for what Keras's optimizers do silently. Scripts for TensorFlow 2.6 write Adam(lr=0.1): since 2.11 Keras
drops `lr` and trains with the default rate; legacy optimizers still take it. And Keras's own loss scaling, which a
model of mixed_float16 puts around its optimizer by itself, sees no overflow where the device saturates."""

import functools
import warnings

from tensorflow.python.eager import context

from npu_device.patch import once
from npu_device.setting import overflow


def _effective(rate):
    return f"{rate.numpy():g}" if hasattr(rate, "numpy") else type(rate).__name__


def warn_about_lr():
    """A Keras optimizer built with `lr=` says which learning rate it has instead."""
    from keras.src.optimizers import optimizer

    base = optimizer._BaseOptimizer
    if hasattr(base._process_kwargs, "_npu_device"):
        return
    process, build = base._process_kwargs, base._build_learning_rate

    @functools.wraps(process)
    def noticed(self, kwargs):
        given = kwargs.get("lr")
        process(self, kwargs)
        if given is not None:
            self.__dict__["_npu_ignored_lr"] = given  # Keras tracks what is set as an attribute

    @functools.wraps(build)
    def told(self, learning_rate):
        rate = build(self, learning_rate)
        if "_npu_ignored_lr" in self.__dict__:
            kind, given = type(self).__name__, self.__dict__.pop("_npu_ignored_lr")
            warnings.warn(
                f"{kind}(lr={given}): this TensorFlow ignores `lr`, the learning rate is {_effective(rate)}; write "
                f"{kind}(learning_rate={given})",
                stacklevel=3,
            )
        return rate

    noticed._npu_device = True
    base._process_kwargs, base._build_learning_rate = noticed, told


def warn_about_scaling():
    """Keras's LossScaleOptimizer says what to use instead of it on a device that saturates."""
    from keras.src.mixed_precision import loss_scale_optimizer

    def telling(update):
        def told(self, grads):
            if ":NPU:" in (context.context().device_name or "") and not overflow.is_inf_nan_enabled():
                warnings.warn(
                    "Keras's LossScaleOptimizer sees no overflow on this NPU, which saturates; put "
                    "npu.train.optimizer.NpuLossScaleOptimizer around the optimizer instead",
                    stacklevel=2,
                )
            return update(self, grads)

        return told

    once.replace(loss_scale_optimizer._DynamicLossScaleState, "update", telling)
