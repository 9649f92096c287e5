# SPDX-License-Identifier: Apache-2.0
"""Arrays of tensors, by their nodes: the same results, and the same refusals in the same words, as TensorFlow's."""

import re
import threading

import numpy as np
import pytest
import tensorflow as tf
from engine import EngineError
from traced import Traced, check

raw = tf.raw_ops
X = np.arange(12, dtype="float32").reshape(4, 3) + 1
ANY = tf.TensorShape(None)


class Array:
    """The nodes of one array, each with the flow of the one before."""

    def __init__(self, size=4, dtype=tf.float32, made=None, **attributes):
        attributes = {"element_shape": ANY, **attributes}
        self.dtype = dtype
        self.handle, self.flow = made or raw.TensorArrayV3(size=size, dtype=dtype, **attributes)

    def write(self, index, value):
        value = tf.convert_to_tensor(value, self.dtype)
        self.flow = raw.TensorArrayWriteV3(handle=self.handle, index=index, value=value, flow_in=self.flow)
        return self

    def scatter(self, indices, value):
        self.flow = raw.TensorArrayScatterV3(handle=self.handle, indices=indices, value=value, flow_in=self.flow)
        return self

    def split(self, value, lengths):
        lengths = tf.cast(lengths, tf.int64)
        self.flow = raw.TensorArraySplitV3(handle=self.handle, value=value, lengths=lengths, flow_in=self.flow)
        return self

    def read(self, index, dtype=None):
        return raw.TensorArrayReadV3(handle=self.handle, index=index, flow_in=self.flow, dtype=dtype or self.dtype)

    def gather(self, indices, element_shape=ANY):
        indices = tf.convert_to_tensor(indices, tf.int32)
        return raw.TensorArrayGatherV3(
            handle=self.handle, indices=indices, flow_in=self.flow, dtype=self.dtype, element_shape=element_shape
        )

    def concat(self, except0=ANY):
        return raw.TensorArrayConcatV3(
            handle=self.handle, flow_in=self.flow, dtype=self.dtype, element_shape_except0=except0
        )

    def size(self):
        return raw.TensorArraySizeV3(handle=self.handle, flow_in=self.flow)

    def gradient(self, source="gradients", outer=None):
        if outer is None:
            made = raw.TensorArrayGradV3(handle=self.handle, flow_in=self.flow, source=source)
        else:
            made = raw.TensorArrayGradWithShape(
                handle=self.handle, flow_in=self.flow, shape_to_prepend=outer, source=source
            )
        return Array(dtype=self.dtype, made=made)

    def close(self):
        raw.TensorArrayCloseV3(handle=self.handle)
        return self


def filled(x, **attributes):
    return Array(4, **attributes).scatter([0, 1, 2, 3], x)


def written(x, order=(0, 1, 2, 3), dtype=tf.float32, size=4, **attributes):
    array = Array(size, dtype, **attributes)
    for i in order:
        array.write(i, x[i])
    return array


def twice(array, index):
    return array.read(index) + array.read(index)


def known_gradient(x):
    """Written once, twice and never."""
    array = written(x)
    gradient = array.gradient().write(2, x[0]).write(1, x[1]).write(2, x[3])
    again = Array(made=(array.gradient().handle, gradient.flow))
    return again.gather([0, 1, 2, 3])


def summed_in_rows(x):
    gradient = filled(x).gradient().scatter([0, 1, 2, 3], x)
    gradient.scatter([1, 0], x[:2]).scatter([0, 1, 2, 3], -x)
    return gradient.gather([3, 0, 1]), gradient.read(2)


OPERATORS = {
    "scatter and gather": lambda x: filled(x).gather([0, 1, 2, 3]),
    "gather some": lambda x: filled(x).gather([3, 1]),
    "gather the first": lambda x: filled(x).gather([0, 1]),
    "gather the last": lambda x: written(x).gather([2, 3]),
    "gather one twice": lambda x: filled(x, clear_after_read=False).gather([1, 1, 2]),
    "gather none": lambda x: filled(x).gather([], [3]),
    "gather with a shape": lambda x: filled(x).gather([0, 1, 2, 3], [None]),
    "scatter in another order": lambda x: Array(4).scatter([2, 0, 3, 1], x).gather([0, 1, 2, 3]),
    "positions from a column": lambda x: filled(x).gather((tf.cast(x, tf.int32) % 4)[:, 0]),
    "scatter behind the end": lambda x: (
        lambda a: (a.gather([0, 4, 6, 1]), a.size())
    )(Array(1, dynamic_size=True, element_shape=[3]).scatter([6, 0, 4, 1], x)),
    "scatter into some": lambda x: (
        lambda a: (a.gather([1, 2, 4], [3]), a.read(3))
    )(Array(5, element_shape=[3]).scatter([1, 3], x[:2])),
    "scatter and write": lambda x: Array(5).scatter([0, 1, 2, 3], x).write(4, x[0]).gather([0, 1, 2, 3, 4]),
    "write and gather": lambda x: written(x).gather([0, 1, 2, 3]),
    "write in another order": lambda x: written(x, (3, 0, 2, 1)).gather([0, 1, 2, 3]),
    "write behind the end": lambda x: written(x, (3, 0, 2, 1), size=0, dynamic_size=True).gather([0, 1, 2, 3]),
    "write and scatter": lambda x: Array(5).write(4, x[0]).scatter([0, 1, 2, 3], x).gather([4, 3, 2, 1, 0]),
    "read": lambda x: [filled(x).read(2), written(x).read(1)],
    "read twice": lambda x: twice(filled(x, clear_after_read=False), 2),
    "read what was never written": lambda x: Array(4, element_shape=[2, 3]).read(1),
    "read what has the shape of others": lambda x: Array(4, identical_element_shapes=True).write(0, x).read(1),
    "elements of all sorts": lambda x: (
        lambda a: (a.read(0), a.read(1))
    )(Array(2).write(0, x).write(1, x[0])),
    "of integers": lambda x: written(tf.cast(x, tf.int64), dtype=tf.int64).gather([0, 1, 2, 3]),
    "of truths": lambda x: written(x > 4, dtype=tf.bool).gather([0, 1, 2, 3]),
    "of halves": lambda x: written(tf.cast(x, tf.float16), dtype=tf.float16).gather([0, 1, 2, 3]),
    "of scalars": lambda x: (
        lambda a: [a.gather([0, 1, 2, 3]), a.size()]
    )(Array(4).scatter([0, 1, 2, 3], x[:, 0])),
    "of nothing": lambda x: Array(4).write(1, x[:0]).read(1),
    "concat": lambda x: [*written(x).concat()],
    "concat of different lengths": lambda x: [*Array(3).write(0, x[:2]).write(1, x).write(2, x[:0]).concat([3])],
    "concat of none": lambda x: [*Array(0).concat([3])],
    "concat of rows": lambda x: [*filled(tf.reshape(x, [4, 3, 1])).concat()],
    "split": lambda x: [*Array(3).split(x, [1, 0, 3]).concat()],
    "split and read": lambda x: (lambda a: [a.read(1), a.read(0)])(Array(2).split(x, [1, 3])),
    "split behind the end": lambda x: Array(0, dynamic_size=True).split(x, [1, 3]).size(),
    "gradient": known_gradient,
    "gradient in rows": summed_in_rows,
    "gradients of two sources": lambda x: (
        lambda a: [
            a.gradient("one").write(0, x[0]).gather([0, 1]), a.gradient("two").write(0, x[1]).gather([0, 1])
        ]
    )(filled(x)),
    "gradient behind the end": lambda x: filled(x, element_shape=[3]).gradient().read(7),
    "gradient of a declared shape": lambda x: Array(4, element_shape=[3]).gradient().gather([0, 3]),
    "gradient of more dimensions": lambda x: filled(x).gradient(outer=[4]).write(1, x).gather([0, 1]),
    "gradient's size": lambda x: filled(x, dynamic_size=True).gradient().size(),
    "close": lambda x: (filled(x).close(), filled(x).read(1))[1],
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_operator(name):
    check(OPERATORS[name], X)


def test_arrays_of_strings_are_those_of_the_client():
    strings = lambda x: filled(tf.strings.as_string(x), dtype=tf.string).gather([0, 1, 2, 3])  # noqa: E731
    check(strings, X, host={"AsString", "TensorArrayGatherV3", "TensorArrayScatterV3", "TensorArrayV3"})


WRONG = {
    "write behind the end": lambda x: Array(3).write(5, x),
    "write before the start": lambda x: Array(3).write(-1, x),
    "write before the start of one that grows": lambda x: Array(3, dynamic_size=True).write(-1, x),
    "write twice": lambda x: Array(3).write(1, x).write(1, x),
    "write what was read": lambda x: (lambda a: (a.read(1), a.write(1, x))[1])(Array(3).write(1, x)),
    "read what was cleared": lambda x: twice(filled(x), 1),
    "gather what was cleared": lambda x: filled(x).gather([1, 1]),
    "gather all after one was cleared": lambda x: (lambda a: (a.read(1), a.gather([0, 1, 2, 3]))[1])(filled(x)),
    "read what was never written": lambda x: Array(3).read(1),
    "read what was never written, of some shape": lambda x: Array(3, element_shape=[None, 3]).read(1),
    "read behind the end": lambda x: filled(x).read(7),
    "read before the start": lambda x: filled(x).read(-7),
    "read as another type": lambda x: filled(x).read(1, tf.int32),
    "write another type": lambda x: raw.TensorArrayWriteV3(
        handle=Array(3).handle, index=1, value=tf.cast(x, tf.int32), flow_in=0.0
    ),
    "write another shape": lambda x: Array(3, element_shape=[2]).write(1, x),
    "write another rank": lambda x: Array(3, element_shape=[None, 2]).write(1, x[0]),
    "write another shape than the first": lambda x: Array(3, identical_element_shapes=True).write(0, x[0]).write(1, x),
    "negative size": lambda x: Array(-1 + 0 * tf.cast(x[0, 0], tf.int32)),
    "scatter behind the end": lambda x: Array(3).scatter([0, 1, 2, 7], x),
    "scatter before the start": lambda x: Array(3).scatter([0, 1, 2, -1], x),
    "scatter twice": lambda x: filled(x).scatter([1], x[:1]),
    "gather behind the end": lambda x: filled(x).gather([1, 5]),
    "gather before the start": lambda x: filled(x).gather([-5]),
    "gather all sorts": lambda x: Array(2).write(0, x).write(1, x[0]).gather([0, 1]),
    "gather another shape": lambda x: filled(x).gather([0, 1], [2]),
    "gather what was never written": lambda x: Array(4).write(0, x).gather([0, 1]),
    "concat scalars": lambda x: Array(2).write(0, x[0, 0]).write(1, x[0, 0]).concat()[0],
    "concat all sorts": lambda x: Array(2).write(0, x).write(1, x[0]).concat()[0],
    "concat another shape": lambda x: Array(1).write(0, x).concat([2])[0],
    "split too little": lambda x: Array(2).split(x, [1, 1]),
    "split for another size": lambda x: Array(3).split(x, [1, 3]),
    "split for a larger size": lambda x: Array(3, dynamic_size=True).split(x, [1, 3]),
    "gradient of another shape": lambda x: filled(x).gradient().write(1, x),
    "gradient without the outer shape": lambda x: filled(x).gradient(outer=[4]).write(1, x[0]),
    "gradient behind the end": lambda x: filled(x).gradient().write(7, x[0]),
    "gradient read behind the end": lambda x: filled(x).gradient().read(7),
    "gradient before the start": lambda x: filled(x, element_shape=[3]).gradient().read(-1),
    "gradient after it was read": lambda x: (lambda g: (g.read(1), g.write(1, x[0]))[1])(filled(x).gradient()),
    "gradient of an unknown shape": lambda x: Array(3).gradient().read(0),
    "gradient of a gradient": lambda x: filled(x).gradient().gradient(),
    "sums of truths": lambda x: (
        lambda g: g.write(0, True).write(0, True)
    )(Array(2, tf.bool).gradient()),
    "grown after the gradient": lambda x: (
        lambda a: (a.gradient(), a.write(7, x[0]))[1]
    )(filled(x, dynamic_size=True)),
    "read after the end": lambda x: filled(x).close().read(1),
    "gradient after the end": lambda x: filled(x).close().gradient(),
    "write after the end": lambda x: Array(3).close().write(1, x),
    "gather after the end": lambda x: filled(x).close().gather([0]),
    "gather none of an unknown shape": lambda x: filled(x).gather([]),
    "concat none of an unknown shape": lambda x: Array(0).concat()[0],
}  # fmt: skip


def nameless(text):
    """Without the numbers that tell arrays apart."""
    return re.sub(r"TensorArrayV3(_\d+)+", "ARRAY", text)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_is_refused_in_the_same_words(name):
    def f(x):
        out = WRONG[name](x)
        return out.flow if isinstance(out, Array) else out

    t = Traced(f, X, specs=[tf.TensorSpec(None, tf.float32)])
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.UnimplementedError)) as theirs:
        t.wanted()
    with pytest.raises(EngineError) as mine:
        t.run()
    words = re.search(r"([^\n]+)\n\t \[\[", theirs.value.message)[1].split("}} ")[-1]
    assert words and nameless(words) in nameless(str(mine.value))
    assert not t.engine.host_nodes


def test_in_loops_and_branches():
    """Inputs from one array, outputs to another, gradients to those of the first, as recurrent layers have them."""

    def f(x):
        count = tf.shape(x)[0]
        inputs = Array(count).scatter(tf.range(count), x)
        outputs = Array(count)

        def forth(i, flow, state):
            element = tf.ensure_shape(Array(made=(inputs.handle, inputs.flow)).read(i), [3])
            state = tf.cond(i % 2 == 0, lambda: state + element, lambda: state * element)
            return i + 1, Array(made=(outputs.handle, flow)).write(i, state).flow, state

        _, flow, state = tf.while_loop(lambda i, *_: i < count, forth, (0, outputs.flow, tf.zeros_like(x[0])))
        outputs.flow = flow

        def back(i, flow):
            gradient = Array(made=(inputs.handle, flow)).gradient()
            row = tf.cast(i, tf.float32) + x[i]
            gradient.write(i, row)
            again = lambda: Array(made=(gradient.handle, gradient.flow)).write(0, row).flow  # noqa: E731
            return i - 1, tf.cond(i % 2 == 0, lambda: gradient.flow, again)

        _, flow = tf.while_loop(lambda i, _: i >= 0, back, (count - 1, inputs.flow))
        gradients = Array(made=(inputs.gradient().handle, flow))
        return state, outputs.gather(tf.range(count)), gradients.gather(tf.range(count)), outputs.size()

    t = Traced(f, X, specs=[tf.TensorSpec([None, 3], tf.float32)])
    for rows in (4, 1, 7, 4):
        t.check(np.arange(rows * 3, dtype="float32").reshape(rows, 3) / 3)


def test_shapes_that_change_in_a_loop():
    def f(x):
        array = Array(4, clear_after_read=False)

        def turn(i, flow, total):
            array.flow = flow
            array.write(i, x[:, : 1 + i // 2])
            return i + 1, array.flow, total + tf.reduce_sum(array.read(i)) + tf.reduce_sum(array.read(0))

        _, _, total = tf.while_loop(lambda i, *_: i < 4, turn, (0, array.flow, 0.0))
        return total

    check(f, X)


def test_a_view_stays_when_the_array_goes_on():
    """What was read is not written to by what comes later: neither by the array nor by a variable that got it."""
    v = tf.Variable(np.zeros(3, "float32"))

    def f(x):
        array = written(x, (0, 1, 2))
        first, rows = array.read(0), array.gather([1, 2])
        v.assign(first)
        v.assign_add([1.0, 1.0, 1.0])
        return first, rows, array.write(3, x[3] * 2).gather([3]), v.read_value()

    check(f, X)


def test_four_threads_have_arrays_of_their_own():
    t = Traced(lambda x: written(x, (3, 1, 2, 0)).gather([0, 1, 2, 3]), X)
    wrong = []

    def work(i):
        x = X * i
        wrong.extend(n for n in range(50) if not np.array_equal(t.run(x)[0], x))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
