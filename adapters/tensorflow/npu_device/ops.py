# SPDX-License-Identifier: Apache-2.0
"""npu.ops: activations of the NPU for scripts that ask for them."""

import tensorflow as tf

from npu_device import gen_npu_ops


def gelu(x):
    """GELU by the NPU's approximation x * sigmoid(1.702 x) inside a tf.function; tf.nn.gelu where operators run one by
    one, as the vendor's adapter has it. `x`: a floating-point tensor; the result has its shape and type."""
    if tf.executing_eagerly():
        return tf.nn.gelu(x)
    return gen_npu_ops.fast_gelu(x)
