# SPDX-License-Identifier: Apache-2.0
"""tf.functions: while the dump is on, copies of them run that dump what their nodes give. Tracing sees nothing of it,
so nothing is traced anew, and switching costs nothing."""

import ctypes as C

from tensorflow.python.eager import context

from tfdbg_ascend import library

_pointer = C.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = C.c_void_p, [C.py_object, C.c_char_p]
_name = C.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = C.c_char_p, [C.py_object]


def _handle(one):
    """TensorFlow's TFE_Context of a Python context."""
    return _pointer(one._handle, _name(one._handle))


def on_npu(one):
    """Whether what is called now runs on an NPU, whose own dump (dump_config) tells more."""
    return ":NPU:" in (one.device_name or "")


def watch():
    """From now on functions that are called from outside of graphs are looked at."""
    call = context.Context.call_function

    def call_function(self, name, tensor_inputs, num_outputs):
        if library.load().tfdbg_ascend_is_on() and not on_npu(self):
            name = library.copy_of(_handle(self), name)
        return call(self, name, tensor_inputs, num_outputs)

    context.Context.call_function = call_function
