# SPDX-License-Identifier: Apache-2.0
"""Keras's own loss scaling, which a model of mixed_float16 puts around its optimizer by itself, where that optimizer
averages gradients over all workers: they agree on the steps to leave out, for a worker that leaves out one alone would
not come to the average."""

import tensorflow as tf
from keras.src.mixed_precision import loss_scale_optimizer

from npu_device.distribute import hccl
from npu_device.patch import once


def _all_finite(grads):
    grads = [g for g in tf.nest.flatten(grads) if g is not None]
    values = [g.values if isinstance(g, tf.IndexedSlices) else g for g in grads]
    return tf.reduce_all([tf.reduce_all(tf.math.is_finite(v)) for v in values])


def agree():
    """From now on a step is finite for Keras's dynamic scale where it is so on all workers."""

    def agreeing(update):
        def agreed(self, grads):
            told = tf.where(hccl.agreed(_all_finite(grads)), 0.0, float("nan"))  # as one more gradient
            return update(self, [*tf.nest.flatten(grads), told])

        return agreed

    once.replace(loss_scale_optimizer._DynamicLossScaleState, "update", agreeing, mark="_npu_agrees")
