# SPDX-License-Identifier: Apache-2.0
"""Operators outside of functions. Having no names, each type is counted from enable() on, as in MatMul, MatMul_1."""

import ctypes as C
from collections import Counter

from tensorflow.python.eager import context
from tensorflow.python.framework import op_callbacks, op_def_registry
from tensorflow.python.util import compat

from tfdbg_ascend import library, traced

_counts = Counter()


def _dump(op_type, inputs, attrs, outputs, op_name=None, graph=None):
    op_type = compat.as_str(op_type)  # bytes, where an operator does not take TensorFlow's fast path
    if graph is not None or op_def_registry.get(op_type) is None or traced.on_npu(context.context()):
        return  # part of a function, or a call of one
    number = _counts[op_type]
    _counts[op_type] += 1
    name = op_type if number == 0 else f"{op_type}_{number}"
    for index, tensor in enumerate(outputs):
        if tensor.dtype.is_numpy_compatible and not tensor.dtype.name.startswith(("string", "resource", "variant")):
            _put(name.encode(), index, tensor)


def _put(name, index, tensor):
    array = tensor.numpy()
    shape = (C.c_int64 * array.ndim)(*array.shape)
    pointer = array.__array_interface__["data"][0] if array.size else None
    library.load().tfdbg_ascend_put(
        name, index, tensor.dtype.as_datatype_enum, shape, array.ndim, pointer, array.nbytes
    )


def listen():
    """The operators of this thread are dumped."""
    ignore()
    _counts.clear()
    op_callbacks.add_op_callback(_dump)


def ignore():
    if _dump in context.context().op_callbacks:
        op_callbacks.remove_op_callback(_dump)
