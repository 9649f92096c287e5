# SPDX-License-Identifier: Apache-2.0
"""The vendor's own operators: a function for each, in snake_case, as TensorFlow writes them for operators of a loaded
library. adapters/tensorflow/operators.cpp declares them."""

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
