# SPDX-License-Identifier: Apache-2.0
"""The word that a device in saturation mode sets when something overflows, as loss scaling reads it: once a step, when
the gradients are there."""

import tensorflow as tf

from npu_device import gen_npu_ops

MARK = "_npu_loss_scale"  # the attribute by which the vendor's tools know the nodes that read the word


def values_of(grads):
    """The tensors of gradients; those of rows, of IndexedSlices."""
    grads = [g for g in tf.nest.flatten(grads) if g is not None]
    return [g.values if isinstance(g, tf.IndexedSlices) else g for g in grads]


def is_clear(values):
    """Whether nothing overflowed on the device from when the word was cleared last, by the step before, until `values`
    were there; the word is 0 afterwards. In a graph whoever reads the answer waits for that: it cannot be cleared
    later, for what the next loss is made of was built before, and may run at once."""
    with tf.control_dependencies(values):
        status = gen_npu_ops.npu_get_float_status_v2()
    with tf.control_dependencies([status]):
        cleared = gen_npu_ops.npu_clear_float_status_v2()
    clear = tf.reduce_all(tf.equal(status, 0))
    with tf.control_dependencies([cleared]):
        return tf.identity(clear)


def marked():
    """Nodes of the graph that are built in a `with` block of this are marked."""
    return tf.compat.v1.get_default_graph()._attr_scope({MARK: tf.compat.v1.AttrValue(b=True)})
