# SPDX-License-Identifier: Apache-2.0
"""Channels that carry tensors out of one session's run into another's, by name and within this process."""

import collections
import threading

import numpy as np
import tensorflow.compat.v1 as tf

from npu_bridge.estimator.npu.npu_scope import without_npu_compile_scope

LONGEST = 2048  # elements that wait in a channel; a run that would add one more waits for a reader


class Channel:
    """A bounded queue that can end: readers then get what is left, and StopIteration, which a run makes OutOfRangeError
    of; what is written later begins anew."""

    def __init__(self):
        self._changed = threading.Condition()
        self._elements = collections.deque()
        self._ended = False

    def put(self, element):
        """Waits while the channel is full, unless it ended."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._elements) < LONGEST or self._ended)
            if self._ended and len(self._elements) >= LONGEST:
                self._elements.clear()  # nobody reads them
            self._ended = False
            self._elements.append(element)
            self._changed.notify_all()

    def get(self):
        """Waits for an element, or the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._elements or self._ended)
            if not self._elements:
                raise StopIteration("the outfeed channel was stopped, and is empty")
            self._changed.notify_all()
            return self._elements.popleft()

    def end(self):
        """Wakes all that wait."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()


_channels = collections.defaultdict(Channel)
_lock = threading.Lock()


def _channel(name):
    with _lock:
        return _channels[name]


def outfeed_enqueue_op(channel_name, inputs, name=None):
    """An operation that puts `inputs`, a list of tensors, into the channel as one element."""
    inputs = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    name = name or "OutfeedEnqueueOp"
    with without_npu_compile_scope():
        put = _channel(channel_name).put
        return tf.numpy_function(lambda *values: put([np.asarray(value) for value in values]), inputs, [], name=name)


def outfeed_dequeue_op(channel_name, output_types, output_shapes, name=None):
    """The tensors of the channel's next element, which a run waits for; tf.errors.OutOfRangeError after
    stop_outfeed_dequeue_op, and InvalidArgumentError for an element of other types or shapes."""
    types, name = [tf.as_dtype(one) for one in output_types], name or "OutfeedDequeueOp"
    shapes = [tf.TensorShape(one) for one in output_shapes]
    if len(types) != len(shapes):
        raise ValueError(f"there are {len(types)} output_types and {len(shapes)} output_shapes; give one for each")
    with without_npu_compile_scope():
        values = tf.numpy_function(lambda: _fitting(channel_name, types, shapes), [], types, name=name)
    for value, shape in zip(values, shapes, strict=True):
        value.set_shape(shape)
    return values


def _fitting(channel_name, types, shapes):
    values = _channel(channel_name).get()
    told = [f"{value.dtype} {list(value.shape)}" for value in values]
    fits = len(values) == len(types) and all(
        tf.as_dtype(value.dtype) == dtype and shape.is_compatible_with(value.shape)
        for value, dtype, shape in zip(values, types, shapes, strict=True)
    )
    if not fits:
        wanted = [f"{dtype.name} {shape}" for dtype, shape in zip(types, shapes, strict=True)]
        raise ValueError(f"outfeed channel {channel_name!r} has {told}, and {wanted} is asked for")
    return values


def stop_outfeed_dequeue_op(channel_name, name=None):
    """An operation that ends the channel: runs that wait for an element get tf.errors.OutOfRangeError."""
    with without_npu_compile_scope():
        return tf.numpy_function(lambda: _channel(channel_name).end(), [], [], name=name or "StopOutfeedDequeueOp")
