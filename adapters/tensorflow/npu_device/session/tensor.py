# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy and the tensors of the C interface."""

import ctypes as C
import functools

import numpy as np
import tensorflow as tf

from npu_device.adapter import c_interface

Tensor = c_interface.SessionTensor
TEXT = tf.string.as_datatype_enum


def give(tensor, array, dtype, held):
    """Fills `tensor` with what `array` holds; what must live as long goes into `held`."""
    tensor.dtype, tensor.rank = dtype.as_datatype_enum, array.ndim
    sizes = (C.c_int64 * array.ndim)(*array.shape)
    tensor.sizes = sizes
    held.append(sizes)
    if tensor.dtype == TEXT:
        return _give_texts(tensor, array, held)
    array = np.ascontiguousarray(array)
    held.append(array)
    tensor.data, tensor.texts, tensor.lengths = array.__array_interface__["data"][0], None, None
    return None


def _give_texts(tensor, array, held):
    texts = [tf.compat.as_bytes(one) if isinstance(one, str) else bytes(one) for one in array.ravel().tolist()]
    pointers, lengths = (C.c_char_p * len(texts))(*texts), (C.c_size_t * len(texts))(*map(len, texts))
    held += [texts, pointers, lengths]
    tensor.data, tensor.texts, tensor.lengths = None, pointers, lengths


@functools.cache
def _numpy_dtype(number):
    return np.dtype(tf.as_dtype(number).as_numpy_dtype)


def array_of(tensor):
    """A copy of it as sessions give it: an array, or the scalar of a tensor without dimensions."""
    shape = tuple(tensor.sizes[: tensor.rank])
    if tensor.dtype == TEXT:
        return _texts_of(tensor, shape)
    array = np.empty(shape, _numpy_dtype(tensor.dtype))
    if array.nbytes:
        C.memmove(array.ctypes.data, tensor.data, array.nbytes)
    return array if shape else array[()]


def _texts_of(tensor, shape):
    count = int(np.prod(shape, dtype=np.int64))
    pointers = C.cast(tensor.texts, C.POINTER(C.c_void_p))
    texts = [C.string_at(pointers[i], tensor.lengths[i]) if tensor.lengths[i] else b"" for i in range(count)]
    if not shape:
        return texts[0]
    array = np.empty(count, object)
    array[:] = texts
    return array.reshape(shape)
