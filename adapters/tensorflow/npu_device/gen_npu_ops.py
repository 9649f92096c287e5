# SPDX-License-Identifier: Apache-2.0
"""The vendor's own operators: a function for each, in snake_case, as TensorFlow writes them for operators of a loaded
library. adapters/tensorflow/operators.cpp declares them."""

import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.framework import _pywrap_python_op_gen, op_def_registry, ops

from npu_device.adapter import library

library.load()
exec(  # noqa: S102 - what tf.load_op_library does
    _pywrap_python_op_gen.GetPythonWrappers(
        op_def_pb2.OpList(op=[op_def_registry.get(name) for name in library.operators]).SerializeToString()
    ),
    globals(),
)


@ops.RegisterGradient("FastGelu")
def _fast_gelu_gradient(op, gradient):
    return fast_gelu_grad(gradient, op.inputs[0])  # noqa: F821 - one of those above


@ops.RegisterGradient("DropOutDoMask")
def _drop_out_do_mask_gradient(op, gradient):
    return [drop_out_do_mask(gradient, op.inputs[1], op.inputs[2]), None, None]  # noqa: F821


def fused_layer_norm(x, gamma, beta, begin_norm_axis=0, begin_params_axis=0, epsilon=1e-7, name=None):
    """(y, mean, variance): `x` less its mean over the axes from `begin_norm_axis` on, divided by their deviation, times
    `gamma` plus `beta`, which have the sizes of x from `begin_params_axis` on. float16 is computed in float32."""
    with tf.name_scope(name or "FusedLayerNorm"):
        x, gamma, beta = (tf.convert_to_tensor(one) for one in (x, gamma, beta))
        rank = x.shape.rank
        if rank is None or not -rank <= begin_norm_axis < rank or not -rank <= begin_params_axis < rank:
            raise ValueError(f"x is {x.shape}; begin_norm_axis ({begin_norm_axis}) and begin_params_axis "
                             f"({begin_params_axis}) must be axes of it")  # fmt: skip
        wide = tf.cast(x, tf.float32)
        mean, variance = tf.nn.moments(wide, range(begin_norm_axis % rank, rank), keepdims=True)
        normed = (wide - mean) * tf.math.rsqrt(variance + epsilon)
        y = normed * tf.cast(gamma, tf.float32) + tf.cast(beta, tf.float32)
        return tuple(tf.cast(one, x.dtype) for one in (y, mean, variance))
