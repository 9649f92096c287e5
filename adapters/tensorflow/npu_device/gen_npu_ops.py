# SPDX-License-Identifier: Apache-2.0
"""The vendor's own operators: a function for each, in snake_case, as TensorFlow writes them for operators of a loaded
library. adapters/tensorflow/operators.cpp declares them."""

from tensorflow.core.framework import op_def_pb2
from tensorflow.python.framework import _pywrap_python_op_gen, op_def_registry

from npu_device import library

library.load()
exec(  # noqa: S102 - what tf.load_op_library does
    _pywrap_python_op_gen.GetPythonWrappers(
        op_def_pb2.OpList(op=[op_def_registry.get(name) for name in library.operators]).SerializeToString()
    ),
    globals(),
)
