# SPDX-License-Identifier: Apache-2.0
"""Every operator of lists, stacks and arrays of tensors, called rightly and wrongly: the NPU gives the value that the
CPU gives, or raises the same class of error with the CPU's sentence in its text."""

import pathlib
import re

import numpy as np
import pytest
import tensorflow as tf
from both import on_cpu, same

raw = tf.raw_ops
ANY, F, I, V = -1, tf.float32, tf.int32, tf.variant  # noqa: E741 - an element shape of which nothing is known; dtypes
UNKNOWN = tf.TensorShape(None)
X = np.arange(12, dtype="float32").reshape(4, 3) + 1
HUGE = 2**31 - 1


def t(value):
    """A tensor, of int32 where Python's numbers are given. Graphs know neither its value nor its shape, so that wrong
    ones reach the kernels and are not refused while a function is traced."""
    if not tf.is_tensor(value):
        value = tf.constant(value if isinstance(value, np.ndarray | np.generic) else np.int32(value))
    return value if tf.executing_eagerly() else raw.PlaceholderWithDefault(input=value, shape=UNKNOWN)


def long(*values):
    return t(np.int64(values))


# Lists.
def empty(shape=ANY, most=-1, dtype=F):
    return raw.EmptyTensorList(element_shape=t(shape), max_num_elements=t(most), element_dtype=dtype)


def reserved(count, shape=ANY, dtype=F):
    return raw.TensorListReserve(element_shape=t(shape), num_elements=t(count), element_dtype=dtype)


def rows(x=X, shape=ANY):
    return raw.TensorListFromTensor(tensor=t(x), element_shape=t(shape))


def push(items, x):
    return raw.TensorListPushBack(input_handle=items, tensor=t(x))


def put(items, index, x, **grow):
    return raw.TensorListSetItem(input_handle=items, index=t(index), item=t(x), **grow)


def get(items, index, shape=ANY, dtype=F):
    return raw.TensorListGetItem(input_handle=items, index=t(index), element_shape=t(shape), element_dtype=dtype)


def pop(items, shape=ANY, dtype=F):
    return raw.TensorListPopBack(input_handle=items, element_shape=t(shape), element_dtype=dtype)


def stack(items, shape=ANY, count=-1, dtype=F):
    return raw.TensorListStack(input_handle=items, element_shape=t(shape), element_dtype=dtype, num_elements=count)


def gather(items, indices, shape=ANY, dtype=F):
    return raw.TensorListGather(input_handle=items, indices=t(indices), element_shape=t(shape), element_dtype=dtype)


def concat(items, shape=UNKNOWN, dtype=F):
    return raw.TensorListConcat(input_handle=items, element_dtype=dtype, element_shape=shape)


def concat_to(items, shape=ANY, lengths=(), dtype=F):
    return raw.TensorListConcatV2(
        input_handle=items, element_shape=t(shape), leading_dims=long(*lengths), element_dtype=dtype
    )


def split(x, shape, *lengths):
    return raw.TensorListSplit(tensor=t(x), element_shape=t(shape), lengths=long(*lengths))


def scatter(x, indices, shape=ANY):
    return raw.TensorListScatter(tensor=t(x), indices=t(indices), element_shape=t(shape))


def scatter_to(x, indices, count, shape=ANY):
    return raw.TensorListScatterV2(tensor=t(x), indices=t(indices), element_shape=t(shape), num_elements=t(count))


def scatter_into(items, x, indices):
    return raw.TensorListScatterIntoExistingList(input_handle=items, tensor=t(x), indices=t(indices))


def resized(items, count):
    return raw.TensorListResize(input_handle=items, size=t(count))


def joined(a, b, dtype=F):
    return raw.TensorListConcatLists(input_a=a, input_b=b, element_dtype=dtype)


def length(items):
    return raw.TensorListLength(input_handle=items)


def shape_of(items):
    return raw.TensorListElementShape(input_handle=items, shape_type=I)


def pushed_to_each(x, *lists):
    handles = raw.TensorListPushBackBatch(input_handles=raw.Pack(values=lists), tensor=t(x))
    return [stack(items) for items in raw.Unpack(value=handles, num=len(lists))]


def gaps(x=X, shape=ANY, count=3):
    """The second is set."""
    return put(reserved(count, shape), 1, x)


def added(*lists):
    return stack(raw.AddN(inputs=lists))


LISTS = {
    "empty": lambda: (length(empty()), shape_of(empty([2, -1])), shape_of(empty())),
    "empty: no scalar": lambda: length(empty(ANY, [1])),
    "empty: shape -2": lambda: length(empty(-2)),
    "empty: size -3": lambda: length(empty([2, -3])),
    "empty: too large a shape": lambda: raw.EmptyTensorList(
        element_shape=long(2**40, 2**40), max_num_elements=t(1), element_dtype=F),
    "empty: any number": lambda: stack(push(empty(ANY, -7), X)),
    "reserve": lambda: (length(reserved(3)), shape_of(reserved(0, [])), stack(reserved(2, [2]))),
    "reserve: scalars": lambda: stack(reserved(2, [])),
    "reserve: none": lambda: stack(reserved(0, [2])),
    "reserve: negative": lambda: length(reserved(-1)),
    "reserve: smallest": lambda: length(reserved(-(2**31))),
    "reserve: no scalar": lambda: length(reserved([2])),
    "push": lambda: stack(push(push(empty(), X), X * 2)),
    "push: scalars": lambda: stack(push(push(empty([]), X[0, 0]), X[1, 1])),
    "push: no elements": lambda: stack(push(empty(), X[:0])),
    "push: all sorts": lambda: (lambda a: (get(a, 0), get(a, 1), length(a)))(push(push(empty(), X), X[0, 0])),
    "push: another shape": lambda: length(push(empty([2]), X[0])),
    "push: another rank": lambda: length(push(empty([-1, -1]), X[0])),
    "push: full": lambda: length(push(push(empty(ANY, 1), X), X)),
    "push: none fits": lambda: length(push(empty(ANY, 0), X)),
    "push: another type": lambda: length(push(empty(dtype=I), X)),
    "push: texts": lambda: length(push(empty(), np.array("a"))),
    "push to each": lambda: pushed_to_each(X[:2], empty(), push(empty(), X[3])),
    "push to each: another number": lambda: pushed_to_each(X, empty(), empty()),
    "push to each: another shape": lambda: pushed_to_each(X[:2], empty([2]), empty([2])),
    "pop": lambda: (lambda a, x: (stack(a), x))(*pop(rows())),
    "pop: never set": lambda: pop(reserved(2), [2])[1],
    "pop: never set, declared": lambda: pop(reserved(2, []))[1],
    "pop: never set, unknown": lambda: pop(gaps())[1],
    "pop: never set, contradiction": lambda: pop(reserved(2, [2]), [3])[1],
    "pop: nothing": lambda: pop(empty())[1],
    "pop: all and one more": lambda: pop(pop(rows(X[:1]))[0])[1],
    "pop: another type": lambda: pop(rows(), dtype=I)[1],
    "get": lambda: (get(rows(), 3), get(rows(), [0]), get(rows(X[:, 0]), 1), get(rows(X[:, :0]), 1)),
    "get: set, of another shape than asked": lambda: get(rows(), 0, [7]),
    "get: never set": lambda: (get(reserved(2, [2]), 1), get(reserved(2), 0, []), get(gaps(), 0), get(gaps(), 0, [2])),
    "get: never set, partly known": lambda: (get(reserved(2, [-1, 2]), 0, [3, -1]), get(gaps(X, [-1, 3]), 0)),
    "get: never set, unknown": lambda: get(reserved(2), 0),
    "get: never set, part unknown": lambda: get(reserved(2, [-1]), 0),
    "get: never set, contradiction": lambda: get(reserved(2, [2]), 0, [3]),
    "get: never set, of several": lambda: get(put(gaps(), 2, X[0]), 0),
    "get: outside": lambda: get(rows(), 4),
    "get: negative": lambda: get(rows(), -1),
    "get: largest": lambda: get(rows(), HUGE),
    "get: of nothing": lambda: get(empty(), 0),
    "get: another type": lambda: get(rows(), 0, dtype=I),
    "set": lambda: (stack(put(rows(), 2, X[0])), stack(put(reserved(1, []), 0, X[0, 0]))),
    "set: another shape": lambda: length(put(rows(X, [3]), 0, X)),
    "set: another rank": lambda: length(put(reserved(2, [-1]), 0, X)),
    "set: outside": lambda: length(put(rows(), 4, X[0])),
    "set: negative": lambda: length(put(rows(), -1, X[0])),
    "set: another type": lambda: length(put(rows(), 0, np.int32([1, 2, 3]))),
    "set: grows": lambda: stack(put(rows(), 6, X[0], resize_if_index_out_of_bounds=True)),
    "stack: never set": lambda: (stack(gaps()), stack(reserved(2), [2]), stack(reserved(3, [0, 2]))),
    "stack: partly known": lambda: (stack(reserved(2, [-1, 2]), [3, -1]), stack(gaps(X, [-1, -1]))),
    "stack: none": lambda: (stack(empty(), [2]), stack(empty([2, 3])), stack(empty(), [], 0)),
    "stack: none, unknown": lambda: stack(empty()),
    "stack: popped": lambda: stack(pop(rows(X[:1]))[0]),
    "stack: never set, unknown": lambda: stack(reserved(2, [-1])),
    "stack: contradiction": lambda: stack(rows(X, [3]), [2]),
    "stack: contradiction of ranks": lambda: stack(rows(), [2, 3]),
    "stack: all sorts": lambda: stack(put(rows(), 0, X)),
    "stack: number": lambda: stack(rows(), count=4),
    "stack: another number": lambda: stack(rows(), count=3),
    "stack: negative number": lambda: stack(rows(), count=-5),
    "stack: huge number": lambda: stack(rows(), count=HUGE),
    "stack: another type": lambda: stack(rows(), dtype=I),
    "gather": lambda: (gather(rows(), [3, 0, 3]), gather(gaps(), [0, 1]), gather(rows(X[:, 0]), [1])),
    "gather: no vector": lambda: (gather(rows(), 2), gather(rows(), [[2, 1]])),
    "gather: none": lambda: (gather(rows(), [], [3]), gather(empty([0]), [])),
    "gather: none, unknown": lambda: gather(rows(), []),
    "gather: never set, unknown": lambda: gather(reserved(2), [0]),
    "gather: outside": lambda: gather(rows(), [1, 4]),
    "gather: outside, declared": lambda: gather(rows(X, [3]), [1, 4]),
    "gather: negative": lambda: gather(rows(), [-1]),
    "gather: negative, declared": lambda: gather(rows(X, [3]), [-1]),
    "gather: outside, of no size": lambda: gather(rows(X[:, :0], [0]), [9]),
    "gather: all sorts": lambda: gather(put(rows(), 0, X), [0, 1]),
    "gather: contradiction": lambda: gather(rows(), [0], [2]),
    "gather: another type": lambda: gather(rows(), [0], dtype=I),
    "concat": lambda: concat(rows(X[:, :, None])),
    "concat: lengths": lambda: concat(split(X, [-1, 3], 1, 0, 3), [None, 3]),
    "concat: never set": lambda: concat(gaps()),
    "concat: never set, of several lengths": lambda: concat(push(gaps(), X[:1])),
    "concat: only never set": lambda: concat(reserved(3)),
    "concat: never set, declared": lambda: concat(reserved(3, [2, 3]), [2, 3]),
    "concat: never set, scalars": lambda: concat(reserved(3, []), []),
    "concat: scalars": lambda: concat(rows(X[0])),
    "concat: scalars declared": lambda: concat(rows(X[0], []), []),
    "concat: none": lambda: concat(empty(), [None, 3]),
    "concat: none, unknown": lambda: concat(empty()),
    "concat: declared alone": lambda: concat(rows(X, [3])),
    "concat: all sorts": lambda: concat(put(rows(), 0, X)),
    "concat: contradiction": lambda: concat(rows(X[:, :, None]), [None, 2]),
    "concat: another type": lambda: concat(rows(), dtype=I),
    "concat to": lambda: (concat_to(rows(X[:, :, None]), [3, 1]), concat_to(split(X, ANY, 1, 0, 3))),
    "concat to: never set": lambda: (concat_to(reserved(3, [-1, 3]), ANY, [2, 0, 1]), concat_to(gaps(), ANY, [1])),
    "concat to: never set, first known": lambda: concat_to(reserved(2, [2, 1])),
    "concat to: too few lengths": lambda: concat_to(push(gaps(), X[:1]), ANY, [1]),
    "concat to: scalars": lambda: concat_to(rows(X[0])),
    "concat to: scalars declared": lambda: concat_to(reserved(3, [])),
    "concat to: none": lambda: concat_to(empty([-1, 3])),
    "concat to: none, unknown": lambda: concat_to(empty()),
    "concat to: only never set": lambda: concat_to(reserved(3), ANY, [1, 1, 1]),
    "concat to: another first": lambda: concat_to(rows(X[:, :, None]), [2, 1]),
    "concat to: contradiction": lambda: concat_to(reserved(2, [2, 3]), [2, 4]),
    "concat to: another type": lambda: concat_to(rows(), dtype=I),
    "split": lambda: (lambda a: (get(a, 0), get(a, 1), get(a, 2)))(split(X, [-1, 3], 1, 0, 3)),
    "split: lengths unlike the declared": lambda: (lambda a: (get(a, 0), shape_of(a)))(split(X, [2, 3], 1, 3)),
    "split: nothing": lambda: length(split(X[:0], ANY)),
    "split: scalar": lambda: length(split(X[0, 0], ANY, 1)),
    "split: of scalars": lambda: length(split(X, [], 4)),
    "split: another shape": lambda: length(split(X, [-1, 2], 4)),
    "split: another rank": lambda: length(split(X, [-1], 4)),
    "split: negative": lambda: length(split(X, ANY, 5, -1)),
    "split: negative first": lambda: length(split(X, ANY, -1, 5)),
    "split: too many": lambda: length(split(X, ANY, 1, 4)),
    "split: too few": lambda: length(split(X, ANY, 1, 1)),
    "split: no vector": lambda: length(raw.TensorListSplit(tensor=t(X), element_shape=t(ANY), lengths=t(np.int64(4)))),
    "from a tensor": lambda: (stack(rows(X, [-1])), length(rows(X[:0])), stack(rows(X[:, 0], []))),
    "from a tensor: no rows": lambda: stack(rows(X[:0])),
    "from a tensor: scalar": lambda: length(rows(X[0, 0])),
    "from a tensor: another shape": lambda: length(rows(X, [2])),
    "from a tensor: another rank": lambda: length(rows(X, [])),
    "from a tensor: matrix of sizes": lambda: length(rows(X, [[3]])),
    "scatter": lambda: (stack(scatter(X, [3, 0, 1, 5], [3])), stack(scatter(X[:2], [1, 1]))),
    "scatter: nothing": lambda: length(scatter(X[:0], [])),
    "scatter: negative": lambda: length(scatter(X[:1], [-1])),
    "scatter: another number": lambda: length(scatter(X, [0, 1])),
    "scatter: scalar": lambda: length(scatter(X[0, 0], [0])),
    "scatter: another shape": lambda: length(scatter(X[:1], [0], [2])),
    "scatter: matrix of sizes": lambda: length(scatter(X[:1], [0], [[3]])),
    "scatter to": lambda: (stack(scatter_to(X[:1], [1], 3)), stack(scatter_to(X[:1], [1], -1))),
    "scatter to: nothing": lambda: length(scatter_to(X[:0], [], 2)),
    "scatter to: outside": lambda: length(scatter_to(X[:1], [3], 3)),
    "scatter to: negative": lambda: length(scatter_to(X[:1], [0], -2)),
    "scatter to: no scalar": lambda: length(scatter_to(X[:1], [0], [2])),
    "scatter into": lambda: (stack(scatter_into(rows(), X[:2] * 5, [1, 4])), length(scatter_into(empty(), X[:0], []))),
    "scatter into: unlike the declared": lambda: get(scatter_into(rows(X, [3]), X[:1, :2], [4]), 4),
    "scatter into: another number": lambda: length(scatter_into(rows(), X, [0])),
    "scatter into: no vector": lambda: length(scatter_into(rows(), X[:1], [[0]])),
    "scatter into: scalar": lambda: length(scatter_into(rows(), X[0, 0], [0])),
    "scatter into: another type": lambda: length(scatter_into(rows(), np.int32([[1]]), [0])),
    "scatter into: texts": lambda: length(scatter_into(rows(), np.array([["a"]]), [0])),
    "resize": lambda: (stack(resized(rows(X, [3]), 6)), stack(resized(rows(), 2)), length(resized(rows(), 0))),
    "resize: negative": lambda: length(resized(rows(), -1)),
    "resize: no scalar": lambda: length(resized(rows(), [1])),
    "join": lambda: (stack(joined(rows(), rows(X * 2))), stack(joined(gaps(), gaps()))),
    "join: nothing": lambda: length(joined(empty(), empty())),
    "join: another shape": lambda: length(joined(rows(), rows(X, [3]))),
    "join: another type": lambda: length(joined(rows(), empty(dtype=I))),
    "join: another type first": lambda: length(joined(empty(dtype=I), rows())),
    "add": lambda: (added(rows(), rows(X * 2), rows()), added(gaps(X[0], [3]), rows(X[:3])), added(gaps(), gaps())),
    "add: other lengths": lambda: added(rows(), rows(X[:2])),
    "add: other shapes": lambda: added(rows(), rows(X[:, :2])),
    "add: other declared shapes": lambda: added(rows(X, [3]), rows(X[:, :2], [2])),
    "add: other types": lambda: added(rows(), empty(dtype=I)),
    "add: truths": lambda: stack(raw.AddN(inputs=[rows(X > 2), rows(X > 3)]), dtype=tf.bool),
    "zeros": lambda: (stack(raw.ZerosLike(x=rows())), stack(raw.ZerosLike(x=gaps(X, [4, 3]))),
                      stack(raw.ZerosLike(x=rows(X > 2)), dtype=tf.bool)),
    "zeros: never set": lambda: stack(raw.ZerosLike(x=reserved(2))),
    "lists of lists": lambda: (lambda a: (stack(get(a, 1, [], V)), stack(pop(a, [], V)[1]), length(joined(a, a, V))))(
        lists_in(rows(), rows(X * 2))),
    "lists of lists: as tensors": lambda: (lambda a: (apart(stack(a, [], dtype=V)), apart(gather(a, [1, 0], [], V))))(
        lists_in(rows(), rows(X * 2))),
    "lists of lists: sums": lambda: stack(get(raw.AddN(inputs=[lists_in(rows()), lists_in(rows(X * 2))]), 0, [], V)),
    "lists of lists: zeros": lambda: stack(get(raw.ZerosLike(x=lists_in(rows())), 0, [], V)),
    "lists of lists: concat": lambda: concat(lists_in(rows()), dtype=V),
    "lists of lists: never set": lambda: apart(stack(reserved(2, [], V), [], dtype=V)),
    "lists of lists: another shape": lambda: length(push(lists_in(), X)),
    "two lists as one": lambda: length(raw.Pack(values=[rows(), rows()])),
    "texts": lambda: (stack(push(empty([], dtype=tf.string), np.array("a")), dtype=tf.string),
                      get(reserved(2, [2], tf.string), 0, dtype=tf.string)),
    "texts: outside": lambda: get(rows(np.array(["a"])), 3, dtype=tf.string),
    "halves": lambda: (lambda d: (stack(put(reserved(2, [3], d), 0, tf.cast(X[0], d)), dtype=d)))(tf.float16),
    "long numbers": lambda: concat_to(rows(np.int64([[1], [2]])), dtype=tf.int64),
}  # fmt: skip


def push_tensor(items, item):
    return raw.TensorListPushBack(input_handle=items, tensor=item)


def lists_in(*parts):
    items = empty([], dtype=V)
    for part in parts:
        items = push_tensor(items, part)
    return items


def apart(two):
    return [stack(items) for items in raw.Unpack(value=two, num=2)]


# Stacks.
def new_stack(most=-1, dtype=F):
    return raw.StackV2(max_size=t(most), elem_type=dtype, stack_name="")


def after(handle, *values):
    """The handle once these were pushed."""
    for value in values:
        raw.StackPushV2(handle=handle, elem=t(value))
    return handle


def popped(handle, dtype=F):
    return raw.StackPopV2(handle=handle, elem_type=dtype)


def closed(handle):
    raw.StackCloseV2(handle=handle)
    return handle


STACKS = {
    "push and pop": lambda: (lambda s: (popped(s), popped(s), popped(s)))(after(new_stack(), X, X[0, 0], X[:0])),
    "largest": lambda: popped(after(new_stack(HUGE), X)),
    "any number": lambda: popped(after(new_stack(-(2**31)), X)),
    "full": lambda: popped(after(new_stack(1), X, X)),
    "none fits": lambda: popped(after(new_stack(0), X)),
    "no scalar": lambda: popped(after(new_stack([1]), X)),
    "nothing": lambda: popped(new_stack()),
    "another type": lambda: popped(after(new_stack(), np.int32([1]))),
    "pushed after the end": lambda: popped(after(closed(new_stack()), X)),
    "popped after the end": lambda: popped(closed(after(new_stack(), X))),
    "ended twice": lambda: (closed(closed(after(new_stack(), X))), tf.constant(1.0))[1],
}  # fmt: skip


# Arrays.
class Array:
    def __init__(self, size=4, dtype=F, shape=UNKNOWN, made=None, **form):
        self.dtype = dtype
        self.handle, self.flow = made or raw.TensorArrayV3(size=t(size), dtype=dtype, element_shape=shape, **form)

    def _then(self, op, **inputs):
        self.flow = op(handle=self.handle, flow_in=self.flow, **inputs)
        return self

    def write(self, index, value):
        return self._then(raw.TensorArrayWriteV3, index=t(index), value=t(value))

    def scatter(self, indices, value):
        return self._then(raw.TensorArrayScatterV3, indices=t(indices), value=t(value))

    def split(self, value, *lengths):
        return self._then(raw.TensorArraySplitV3, value=t(value), lengths=long(*lengths))

    def read(self, index, dtype=None):
        return raw.TensorArrayReadV3(handle=self.handle, index=t(index), flow_in=self.flow, dtype=dtype or self.dtype)

    def gather(self, indices, shape=UNKNOWN):
        return raw.TensorArrayGatherV3(
            handle=self.handle, indices=t(indices), flow_in=self.flow, dtype=self.dtype, element_shape=shape
        )

    def concat(self, rest=UNKNOWN):
        return raw.TensorArrayConcatV3(
            handle=self.handle, flow_in=self.flow, dtype=self.dtype, element_shape_except0=rest
        )

    def size(self):
        return raw.TensorArraySizeV3(handle=self.handle, flow_in=self.flow)

    def gradient(self):
        return Array(made=raw.TensorArrayGradV3(handle=self.handle, flow_in=self.flow, source="g"))

    def wider_gradient(self, *sizes):
        made = raw.TensorArrayGradWithShape(
            handle=self.handle, flow_in=self.flow, shape_to_prepend=t(np.int32(sizes)), source="w"
        )
        return Array(made=made)

    def close(self):
        raw.TensorArrayCloseV3(handle=self.handle)
        return self


def filled(x=X, **form):
    return Array(len(x), **form).scatter(range(len(x)), x)


ARRAYS = {
    "write and read": lambda: (lambda a: (a.read(0), a.read(1), a.read(2)))(
        Array(3).write(0, X).write(1, X[0, 0]).write(2, X[:0])),
    "none": lambda: (Array(0).size(), Array(0).concat([3]), Array(0).gather([], [2])),
    "none scattered": lambda: Array(0).scatter([], X[:0]).size(),
    "none split": lambda: Array(0).split(X[:0]).size(),
    "gather none, unknown": lambda: Array(0).gather([]),
    "concat none, unknown": lambda: Array(0).concat(),
    "negative": lambda: Array(-1).size(),
    "no scalar": lambda: Array([2]).size(),
    "never written": lambda: Array(3).read(1),
    "never written, declared": lambda: (lambda a: (a.read(1), a.gather([0, 2]), a.size()))(Array(3, shape=[2])),
    "never written, scalar": lambda: Array(3, shape=[]).gather([0, 1, 2]),
    "never written, partly declared": lambda: Array(3, shape=[None, 2]).read(1),
    "never written, read twice": lambda: (lambda a: a.read(1) + a.read(1))(Array(3, shape=[2])),
    "never written, then written": lambda: (lambda a: (a.read(1), a.write(1, X[0, :2]).size()))(Array(3, shape=[2])),
    "the shape gathered is declared": lambda: (lambda a: (a.gather([0], [3]), a.read(1)))(Array(3).write(0, X[0])),
    "gather contradicts what was declared": lambda: Array(3, shape=[3]).write(0, X[0]).gather([0], [2]),
    "gather another shape": lambda: filled().gather([0], [2]),
    "gather all sorts": lambda: Array(2).write(0, X).write(1, X[0]).gather([0, 1]),
    "gather no vector": lambda: filled().gather([[0]]),
    "gather outside": lambda: filled().gather([0, 4]),
    "gather negative": lambda: filled().gather([-1]),
    "read outside": lambda: filled().read(4),
    "read the largest": lambda: filled().read(HUGE),
    "read the smallest": lambda: filled().read(-(2**31)),
    "read no scalar": lambda: filled().read([0]),
    "read another type": lambda: filled().read(0, I),
    "write outside": lambda: Array(3).write(3, X).size(),
    "write the largest": lambda: Array(3).write(HUGE, X).size(),
    "write before the start": lambda: Array(3, dynamic_size=True).write(-1, X).size(),
    "write no scalar": lambda: Array(3).write([0], X).size(),
    "write another type": lambda: Array(3, I).write(0, X).size(),
    "write texts": lambda: Array(3).write(0, np.array("a")).size(),
    "write another shape": lambda: Array(3, shape=[2]).write(0, X).size(),
    "write another shape than the first": lambda: (
        Array(2, identical_element_shapes=True).write(0, X).write(1, X[0]).size()),
    "write twice": lambda: Array(3).write(0, X).write(0, X).size(),
    "grow": lambda: (lambda a: (a.size(), a.read(5)))(Array(0, dynamic_size=True).write(5, X)),
    "scatter outside": lambda: Array(3).scatter([0, 3], X[:2]).size(),
    "scatter negative": lambda: Array(3).scatter([0, -1], X[:2]).size(),
    "scatter another number": lambda: Array(3).scatter([0], X[:2]).size(),
    "scatter a scalar": lambda: Array(3).scatter([0], X[0, 0]).size(),
    "scatter no vector": lambda: Array(3).scatter([[0]], X[:1]).size(),
    "scatter another type": lambda: Array(3, I).scatter([0], X[:1]).size(),
    "split": lambda: Array(3).split(X, 1, 0, 3).concat(),
    "split too much": lambda: Array(2).split(X, 4, 1).size(),
    "split for another size": lambda: Array(3).split(X, 1, 3).size(),
    "split a scalar": lambda: Array(1).split(X[0, 0], 1).size(),
    "split another type": lambda: Array(2, I).split(X, 1, 3).size(),
    "concat scalars": lambda: filled(X[0]).concat(),
    "concat all sorts": lambda: Array(2).write(0, X).write(1, X[0]).concat(),
    "concat another shape": lambda: Array(1).write(0, X).concat([2]),
    "gradient": lambda: filled().gradient().write(1, X[0]).write(1, X[1]).gather([0, 1]),
    "gradient of scalars": lambda: filled(X[0]).gradient().write(1, X[0, 0]).gather([0, 1]),
    "gradient of another shape": lambda: filled().gradient().write(1, X).size(),
    "gradient of a gradient": lambda: filled().gradient().gradient().size(),
    "wider gradient": lambda: filled().wider_gradient(2).gather([0, 1]),
    "wider gradient: negative": lambda: filled().wider_gradient(-1).gather([0, 1]),
    "read after the end": lambda: filled().close().read(0),
    "size after the end": lambda: filled().close().size(),
    "ended twice": lambda: (filled().close().close(), tf.constant(1.0))[1],
}  # fmt: skip


# Gradients, to parts of different shapes too.
def gradients(function, *parts):
    parts = [t(part) for part in parts]
    with tf.GradientTape() as tape:
        tape.watch(parts)
        results = tf.nest.flatten(function(*parts))
        total = tf.add_n([tf.reduce_sum(result * result) for result in results])
    return tape.gradient(total, parts)


def list_of(*parts):
    items = empty()
    for part in parts:
        items = push_tensor(items, part)
    return items


def part_set(items, index, part):
    return raw.TensorListSetItem(input_handle=items, index=t(index), item=part)


def written(*parts, **form):
    array = tf.TensorArray(F, len(parts), infer_shape=False, **form)
    for i, part in enumerate(parts):
        array = array.write(i, part)
    return array


GRADIENTS = {
    "elements of different shapes": lambda: gradients(
        lambda a, b: (get(list_of(a, b), 0) * 2.0, get(list_of(a, b), 1)), X[0, 0], X[1]),
    "one of them read": lambda: gradients(lambda a, b: get(list_of(a, b), 1), X, X[1]),
    "stack of scalars": lambda: gradients(lambda a, b: stack(list_of(a, b)), X[0, 0], X[1, 1]),
    "stack with some never set": lambda: gradients(lambda a: stack(part_set(reserved(3, [3]), 1, a)), X[0]),
    "stack of no size": lambda: gradients(lambda a: stack(list_of(a, a)), X[:0]),
    "rows": lambda: gradients(
        lambda a: get(raw.TensorListFromTensor(tensor=a, element_shape=t([3])), 2, [3]), X),
    "popped": lambda: gradients(lambda a, b: pop(list_of(a, b), [3])[1], X, X[1]),
    "gather": lambda: gradients(
        lambda a: gather(raw.TensorListFromTensor(tensor=a, element_shape=t([3])), [1, 1, 3], [3]), X),
    "concat of lengths": lambda: gradients(
        lambda a, b: concat_to(list_of(a, b), [-1, 3])[0], X, X[:1]),
    "array of different shapes": lambda: gradients(
        lambda a, b: (written(a, b).read(1), written(a, b).read(0)), X, X[0, 0]),
    "array concatenated": lambda: gradients(
        lambda a, b: written(a, b, element_shape=[None, 3]).concat(), X, X[:1]),
}  # fmt: skip

FAMILIES = {"list": LISTS, "stack": STACKS, "array": ARRAYS, "gradient": GRADIENTS}
EAGER = ("list", "gradient")  # TensorFlow keeps stacks and arrays for the run of one function


def nameless(message):
    """Without the names of nodes and functions, and the numbers of stacks and arrays."""
    return re.sub(r"((?:Stack|TensorArray)V\d)\w*", r"\1", re.sub(r"\{\{.*?\}\} ?", "", str(message)))


def sentence(message):
    """The kernel's, without the place before and after it."""
    return nameless(message).split("\n\t [[")[0].strip().splitlines()[-1].split(" [Op:")[0]


def outcome(call):
    try:
        return tf.nest.map_structure(lambda value: value.numpy(), call()), None
    except Exception as e:  # noqa: BLE001 - which class, the CPU's run decides
        return None, e


def cases(families):
    return [pytest.param(FAMILIES[f][name], id=f"{f}: {name}") for f in families for name in FAMILIES[f]]


def check(call):
    (theirs, refused), (ours, error) = on_cpu(outcome, call), outcome(call)
    if refused is None:
        assert error is None, f"the CPU gives {theirs}"
        same(ours, theirs)
        return
    assert type(error) is type(refused), f"the CPU: {refused}; the NPU: {error or ours}"
    assert sentence(refused) in nameless(error)


@pytest.mark.parametrize("call", cases(EAGER))
def test_an_operator_by_itself(call):
    check(call)


@pytest.mark.parametrize("call", cases(FAMILIES))
def test_in_a_function(call):
    check(lambda: tf.function(call, autograph=False)())


# TensorFlow's process ends, or takes all memory, in these.
NPU_ALONE = {
    "an index is one number": lambda: get(rows(), np.int32([])),
    "an index is one number; it has the shape [2]": lambda: put(rows(), [0, 1], X[0]),
    "Trying to modify element -1": lambda: put(rows(), -1, X[0], resize_if_index_out_of_bounds=True),
    "must all be non-negative": lambda: scatter_into(rows(), X[:1], [-1]),
    "TensorListReserve: element_shape must be at most rank 1": lambda: reserved(1, [[1]]),
    "TensorListStack: element_shape must be at most rank 1": lambda: stack(rows(), [[3]]),
    "leading_dims[0] is -3": lambda: concat_to(reserved(1, [-1, 3]), ANY, [-3]),
    "more than 2**63 - 1 rows": lambda: concat_to(reserved(2, [-1, 0]), ANY, [2**62, 2**62]),
    "Concat saw a scalar shape at index 0": lambda: concat(rows(X[0], []), [None]),
    "Incompatible shapes during merge": lambda: concat(rows(X[:, :, None], [3, 1]), [None, 2]),
    "has the shape [2]; the elements that are stacked have [3]": lambda: stack(
        scatter_into(rows(X, [3]), X[:1, :2], [4])),
    "elements are requested": lambda: reserved(HUGE),
    "a list, a stack or an array of tensors has at most 16777216": lambda: resized(rows(), HUGE),
    "16777217 elements are requested": lambda: put(rows(), 2**24, X[0], resize_if_index_out_of_bounds=True),
    "2147483648 elements are requested": lambda: scatter(X[:1], [HUGE]),
    "Use fewer and larger elements": lambda: scatter_into(rows(), X[:1], [HUGE]),
    "2147483647 elements are requested": lambda: in_a_function(lambda: Array(HUGE).size()),
    "2147483647 elements are requested; a list": lambda: in_a_function(
        lambda: Array(0, dynamic_size=True).write(HUGE - 1, X).size()),
    "16777217 elements are requested; a list": lambda: in_a_function(
        lambda: Array(0, dynamic_size=True).scatter([2**24], X[:1]).size()),
    "the length of a part is at least 0": lambda: in_a_function(lambda: Array(2).split(X, 5, -1).size()),
    "Expected a stack, got the handle of array": lambda: in_a_function(lambda: popped(Array(1).handle)),
    "Expected an array of tensors, got the handle of stack": lambda: in_a_function(
        lambda: Array(made=(new_stack(), tf.constant(0.0))).size()),
    "Input handle is not a list": lambda: length(raw.OptionalFromValue(components=[t(1)])),
}  # fmt: skip


def in_a_function(call):
    return tf.function(call, autograph=False)()


@pytest.mark.parametrize("text", NPU_ALONE)
def test_the_process_goes_on(text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(text)):
        NPU_ALONE[text]()
    assert stack(rows()).numpy().tolist() == X.tolist()


NO_MEMORY = {
    "element": lambda: get(reserved(1), 0, [HUGE, HUGE]),
    "elements": lambda: stack(reserved(2**20, [2**24])),
    "rows": lambda: concat_to(reserved(2, [-1, 2**20]), ANY, [2**30, 2**30]),
    "array": lambda: in_a_function(lambda: Array(1, shape=[HUGE, HUGE]).read(0)),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_MEMORY)
def test_zeros_that_no_memory_holds(name):
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError), match="memory|GiB"):
        NO_MEMORY[name]()
    assert stack(rows()).numpy().tolist() == X.tolist()


def test_every_operator_is_called():
    families = re.compile(r"EmptyTensorList|TensorList\w+|Stack\w*V2|TensorArray\w*V3|TensorArrayGradWithShape")
    here = pathlib.Path(__file__).read_text(encoding="utf-8")
    assert {name for name in dir(raw) if families.fullmatch(name)} - set(re.findall(r"raw\.(\w+)", here)) == set()
