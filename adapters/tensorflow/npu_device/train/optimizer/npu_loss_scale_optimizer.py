# SPDX-License-Identifier: Apache-2.0
"""Loss scaling that sees overflow on an NPU. A device in saturation mode gives no infinities: it sets a word, which is
read once a step, when the gradients are there, and cleared. Processes that train together agree on what they read. What
an overflow then does to the scale and to the step is Keras's rule, which is the vendor's too."""

import warnings

import tensorflow as tf
from keras.src.mixed_precision import loss_scale_optimizer as keras_scaling
from keras.src.optimizers.legacy import optimizer_v2

from npu_device import device, overflow_word
from npu_device.distribute import hccl
from npu_device.setting import overflow

LARGEST_SCALE = 3.4e38  # a scale that would pass it stays as it is


def _warn_where_nothing_is_seen():
    npu = device.global_npu_ctx()
    if npu is not None and overflow.undetected(npu._id):
        warnings.warn("NpuLossScaleOptimizer sees no overflow: this NPU saturates, and the option overflow_flag is 0; "
                      "leave it at 1", stacklevel=2)  # fmt: skip


def _step_is_finite(grads):
    """Both signs of an overflow are asked for: a device may go from one mode to the other under a traced function."""
    values = overflow_word.values_of(grads)
    finite = tf.reduce_all([tf.reduce_all(tf.math.is_finite(v)) for v in values])
    if not device.is_open():
        return finite
    _warn_where_nothing_is_seen()
    if tf.executing_eagerly():
        return hccl.agreed(tf.logical_and(overflow_word.is_clear(values), finite))
    with overflow_word.marked():
        return hccl.agreed(tf.logical_and(overflow_word.is_clear(values), finite))


def _op(result):
    """Branches of a graph must give operators, for a group of them."""
    return result if tf.executing_eagerly() else result.op


class _Scale(keras_scaling._DynamicLossScaleState):
    """Keras's state of a dynamic scale, asked for the same variables and saved under the same names."""

    def __init__(self, initial_scale, growth_steps, multiplier=2):
        super().__init__(initial_scale, growth_steps, multiplier)
        self.last_step_finite = _flag()

    def update(self, grads):
        finite = _of_replicas(grads)
        kept = self.last_step_finite.assign(finite)
        scaled = tf.cond(finite, self._count, self._shrink)
        return (None if tf.executing_eagerly() else tf.group(kept, scaled)), finite

    def _count(self):
        grows = self.counter + 1 >= self.growth_steps
        return tf.cond(grows, self._grow, lambda: tf.group(_op(self.counter.assign_add(1))))

    def _grow(self):
        scale = self.current_loss_scale
        larger = tf.where(scale < LARGEST_SCALE / self.multiplier, self.multiplier, 1.0)
        return tf.group(_op(scale.assign(scale * larger)), _op(self.counter.assign(0)))

    def _shrink(self):
        scale = self.current_loss_scale
        return tf.group(_op(scale.assign(tf.maximum(scale / self.multiplier, 1.0))), _op(self.counter.assign(0)))


class _FixedScale(_Scale):
    """A scale that stays. Keras applies every step of such an optimizer; here one that overflowed is left out."""

    current_loss_scale = counter = growth_steps = initial_loss_scale = None

    def __init__(self, scale):  # nothing of this is saved, so nothing of Keras's is set up
        self.current_loss_scale = self.initial_loss_scale = scale
        self.last_step_finite = _flag()

    def update(self, grads):
        finite = _of_replicas(grads)
        kept = self.last_step_finite.assign(finite)
        return (None if tf.executing_eagerly() else tf.group(kept)), finite


def _flag():
    return tf.Variable(False, trainable=False, name="npu_last_step_finite")


def _of_replicas(grads):
    """All replicas have the same gradients, so that the first decides for all."""
    if not (tf.distribute.has_strategy() and tf.distribute.in_cross_replica_context()):
        return _step_is_finite(grads)
    strategy = tf.distribute.get_strategy()
    each = strategy.extended.call_for_each_replica(_step_is_finite, args=(grads,))
    return strategy.experimental_local_results(each)[0]


class _ByInner(keras_scaling.LossScaleOptimizerMetaclass):
    """Keras has one class around its new optimizers and one around the legacy ones, so there are two of ours."""

    def __call__(cls, inner_optimizer, *arguments, **named):
        kind = cls
        if cls is NpuLossScaleOptimizer:
            legacy = isinstance(inner_optimizer, optimizer_v2.OptimizerV2)
            kind = NpuLossScaleOptimizerLegacy if legacy else NpuLossScaleOptimizerV3
        return super(_ByInner, kind).__call__(inner_optimizer, *arguments, **named)


class NpuLossScaleOptimizer(keras_scaling.BaseLossScaleOptimizer, metaclass=_ByInner):
    """NpuLossScaleOptimizer(inner_optimizer, dynamic=True, initial_scale=None, dynamic_growth_steps=None)

    tf.keras.mixed_precision.LossScaleOptimizer for an NPU; used in the same way, an instance of it, and saved as one.
    A step overflowed when the device says so (saturation mode) or a gradient is not finite: then it is left out, while
    `iterations` counts it, and a dynamic scale is halved, never below 1. After `dynamic_growth_steps` (2000) steps
    without, the scale doubles. With dynamic=False the scale stays, and steps that overflow are left out all the same.
    """

    def __init__(self, inner_optimizer, dynamic=True, initial_scale=None, dynamic_growth_steps=None):
        super().__init__(inner_optimizer, dynamic, initial_scale, dynamic_growth_steps)
        if dynamic:
            scale = _Scale(self.initial_scale, self.dynamic_growth_steps)
            self._track_trackable(scale, "loss_scale", overwrite=True)
            self._loss_scale = scale
        else:
            self._put(_FixedScale(float(initial_scale)))

    def _put(self, scale):
        """Past Keras's and TensorFlow's way of setting attributes, which would save it."""
        self.__dict__["_loss_scale"] = scale

    @property
    def dynamic(self):
        return not isinstance(self._loss_scale, _FixedScale | float)

    @property
    def last_step_finite(self):
        """A variable: whether the last step was applied. False before the first."""
        return self._loss_scale.last_step_finite


@tf.keras.utils.register_keras_serializable("npu_device", "NpuLossScaleOptimizer")
class NpuLossScaleOptimizerV3(NpuLossScaleOptimizer, keras_scaling.LossScaleOptimizerV3):
    """Around optimizers of Keras 2.11 and later."""


@tf.keras.utils.register_keras_serializable("npu_device", "NpuLossScaleOptimizerLegacy")
class NpuLossScaleOptimizerLegacy(NpuLossScaleOptimizer, keras_scaling.LossScaleOptimizer):
    """Around tf.keras.optimizers.legacy."""


def NpuExperimentalLossScaleOptimizer(optimizer, loss_scale):  # noqa: N802 - the vendor's name
    """The same from what tf.keras.mixed_precision.experimental.LossScaleOptimizer took: `loss_scale` is "dynamic", a
    number, or a FixedLossScale or DynamicLossScale of tf.compat.v1.mixed_precision. ValueError for anything else."""
    v1 = tf.compat.v1.mixed_precision
    if isinstance(loss_scale, v1.DynamicLossScale):
        if loss_scale.multiplier != 2:
            raise ValueError(f"the multiplier of loss_scale is {loss_scale.multiplier}; only 2 is supported")
        return NpuLossScaleOptimizer(optimizer, True, loss_scale.initial_loss_scale, loss_scale.increment_period)
    if isinstance(loss_scale, v1.FixedLossScale):
        loss_scale = loss_scale._loss_scale_value
    if isinstance(loss_scale, int | float) and not isinstance(loss_scale, bool):
        return NpuLossScaleOptimizer(optimizer, False, loss_scale)
    if loss_scale != "dynamic":
        raise ValueError(f'loss_scale is {loss_scale!r}; it must be "dynamic", a number or a loss scale')
    return NpuLossScaleOptimizer(optimizer)
