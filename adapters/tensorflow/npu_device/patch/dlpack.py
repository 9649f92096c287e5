# SPDX-License-Identifier: Apache-2.0
"""tf.experimental.dlpack for tensors on an NPU: DLPack has no number for it, and its memory is the host's."""

import functools

import tensorflow as tf
from tensorflow.python.dlpack import dlpack


def lend_from_npus():
    """From now on to_dlpack takes tensors of NPUs: the capsule is one of the CPU."""
    theirs = dlpack.to_dlpack
    if hasattr(theirs, "_npu_device"):
        return

    @functools.wraps(theirs)
    def to_dlpack(tf_tensor):
        if ":NPU:" in getattr(tf_tensor, "device", ""):
            with tf.device("CPU"):
                tf_tensor = tf.identity(tf_tensor)
        return theirs(tf_tensor)

    to_dlpack._npu_device = True
    dlpack.to_dlpack = tf.experimental.dlpack.to_dlpack = to_dlpack
