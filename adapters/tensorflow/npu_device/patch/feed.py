# SPDX-License-Identifier: Apache-2.0
"""Iterators of Keras's own loops are read ahead: nobody else holds them, so nobody can save one half-way."""

import builtins

from tensorflow.python.eager import context

from npu_device.adapter import library


def _serves_one_loop(data):
    """A data set of the device that is this thread's default: its iterator will be used there and nowhere else."""
    place = context.context().device_name or ""
    return ":NPU:" in place and getattr(getattr(data, "_variant_tensor", None), "device", None) == place


def feed_keras_loops():
    """Iterators that Keras makes for fit, evaluate and predict tell the device that they serve one loop alone."""
    from keras.src.engine import data_adapter

    def alone(data):
        if not _serves_one_loop(data):
            return builtins.iter(data)
        mark = library.load().anynpu_tensorflow_iterators_alone
        mark(1)
        try:
            return builtins.iter(data)
        finally:
            mark(0)

    data_adapter.iter = alone  # a global of the module is found before the builtin
