# SPDX-License-Identifier: Apache-2.0
"""Lists of tensors: as loops and their gradients use them, and each operator by itself. A list never changes under one
who holds it, and setting an element in a loop costs the same in a long list as in a short one."""

import re
import threading
import time

import numpy as np
import pytest
import tensorflow as tf
from case import floats
from engine import EngineError, Value
from traced import Traced, check

raw = tf.raw_ops
X = floats(4, 3)
ANY = -1  # an element shape of which nothing is known
SCALAR = np.zeros(0, "int32")  # that of a number


def test_array_written_and_read():
    def f(x):
        array = tf.TensorArray(tf.float32, 4, element_shape=[3])
        for i in tf.range(4):
            array = array.write(i, x * tf.cast(i, tf.float32))
        return array.stack(), array.read(2), array.size()

    check(f, X[0])


def test_array_of_unknown_shape_that_grows():
    def f(x, n):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i in tf.range(n):
            array = array.write(i, x + tf.cast(i, tf.float32))
        return array.stack(), array.gather([1, 0])

    Traced(f, X, np.int32(3)).check().check(X, np.int32(5))


def test_array_from_a_tensor():
    def f(x):
        array = tf.TensorArray(tf.float32, 4).unstack(x)
        total = tf.zeros([3])
        for i in tf.range(4):
            total = total * 0.5 + array.read(i)
        return total

    check(f, X)


def test_array_of_different_lengths_concatenated():
    def f(x):
        array = tf.TensorArray(tf.float32, 3, infer_shape=False, element_shape=[None, 3])
        array = array.write(0, x).write(1, tf.concat([x, x], 0)).write(2, x)
        return array.concat()

    check(f, X)


def test_gradient_of_a_loop():
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(n):
                y = tf.tanh(y * 1.5) + x
        return y, tape.gradient(y, x)

    t = Traced(f, X, np.int32(4))
    t.check()
    t.check(X, np.int32(0))


def test_gradient_of_a_loop_with_an_array():
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            given = tf.TensorArray(tf.float32, 4, element_shape=[3]).unstack(x)
            out = tf.TensorArray(tf.float32, 4, element_shape=[3])
            state = tf.zeros([3])
            for i in tf.range(4):
                state = tf.tanh(state + given.read(i))
                out = out.write(i, state * state)
            y = out.stack()
        return y, tape.gradient(y, x)

    check(f, X)


def test_gradient_of_a_loop_in_a_loop():
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(2):
                for _ in tf.range(3):
                    y = y * x
        return tape.gradient(y, x)

    check(f, X)


def test_map_and_scan():
    def f(x):
        return (
            tf.map_fn(lambda row: row * 2.0, x),
            tf.scan(lambda a, row: a * 0.5 + row, x),
            tf.foldl(lambda a, row: a + row, x),
        )

    check(f, X)


def test_a_list_given_to_two_readers_stays():
    def f(x):
        first = raw.TensorListFromTensor(tensor=x, element_shape=[3])
        second = raw.TensorListSetItem(input_handle=first, index=1, item=-x[0])
        third = raw.TensorListPushBack(input_handle=first, tensor=x[0] * 7.0)
        fourth, last = raw.TensorListPopBack(input_handle=first, element_shape=[3], element_dtype=tf.float32)
        lists = [
            first,
            second,
            third,
            fourth,
            raw.TensorListConcatLists(input_a=first, input_b=first, element_dtype=tf.float32),
        ]
        return [raw.TensorListStack(input_handle=one, element_shape=[3], element_dtype=tf.float32) for one in lists] + [
            last
        ]

    check(f, X)


def test_a_list_kept_while_a_loop_writes():
    def f(x):
        start = raw.TensorListFromTensor(tensor=x, element_shape=[3])
        last = start
        for i in tf.range(4):
            last = raw.TensorListSetItem(input_handle=last, index=i, item=tf.zeros([3]))
        stack = {"element_shape": [3], "element_dtype": tf.float32}
        return raw.TensorListStack(input_handle=start, **stack), raw.TensorListStack(input_handle=last, **stack)

    check(f, X)


def listed(x, shape=ANY):
    return raw.TensorListFromTensor(tensor=x, element_shape=shape)


def stacked(handle, dtype=tf.float32, **options):
    return raw.TensorListStack(input_handle=handle, element_shape=ANY, element_dtype=dtype, **options)


OPERATORS = {
    "reserved read as zeros": lambda x: raw.TensorListGetItem(
        input_handle=raw.TensorListReserve(element_shape=[2], num_elements=3, element_dtype=tf.float32),
        index=1, element_shape=ANY, element_dtype=tf.float32,
    ),
    "shape asked": lambda x: raw.TensorListGetItem(
        input_handle=raw.TensorListReserve(element_shape=ANY, num_elements=3, element_dtype=tf.float32),
        index=1, element_shape=[2, 2], element_dtype=tf.float32,
    ),
    "shape of another": lambda x: raw.TensorListGetItem(
        input_handle=raw.TensorListSetItem(
            input_handle=raw.TensorListReserve(element_shape=ANY, num_elements=3, element_dtype=tf.float32),
            index=0, item=x,
        ),
        index=1, element_shape=ANY, element_dtype=tf.float32,
    ),
    "resize": lambda x: stacked(raw.TensorListResize(input_handle=listed(x, [3]), size=6)),
    "shrink": lambda x: stacked(raw.TensorListResize(input_handle=listed(x), size=2)),
    "length": lambda x: raw.TensorListLength(input_handle=listed(x)),
    "grown by setting": lambda x: stacked(
        raw.TensorListSetItem(input_handle=listed(x), index=6, item=x[0], resize_if_index_out_of_bounds=True)
    ),
    "element shape": lambda x: raw.TensorListElementShape(input_handle=listed(x, [-1]), shape_type=tf.int64),
    "element shape unknown": lambda x: raw.TensorListElementShape(input_handle=listed(x), shape_type=tf.int32),
    "gather": lambda x: raw.TensorListGather(
        input_handle=listed(x), indices=[3, 0, 3], element_shape=ANY, element_dtype=tf.float32
    ),
    "gather by a column": lambda x: raw.TensorListGather(
        input_handle=listed(x), indices=(tf.cast(x, tf.int32) % 4)[:, 0], element_shape=ANY, element_dtype=tf.float32
    ),
    "scatter": lambda x: stacked(raw.TensorListScatter(tensor=x, indices=[3, 0, 1, 5], element_shape=[3])),
    "scatter sized": lambda x: stacked(
        raw.TensorListScatterV2(tensor=x, indices=[3, 0, 1, 5], element_shape=[3], num_elements=9)
    ),
    "scatter into": lambda x: stacked(
        raw.TensorListScatterIntoExistingList(input_handle=listed(x), tensor=x[:2] * 5.0, indices=[1, 4])
    ),
    "split": lambda x: raw.TensorListConcatV2(
        input_handle=raw.TensorListSplit(tensor=x, element_shape=[-1, 3], lengths=np.int64([1, 0, 3])),
        element_shape=[-1, 3], leading_dims=np.int64([]), element_dtype=tf.float32,
    ),
    "concat of one shape": lambda x: raw.TensorListConcat(
        input_handle=raw.TensorListSplit(tensor=x, element_shape=[2, 3], lengths=np.int64([2, 2])),
        element_dtype=tf.float32, element_shape=[2, 3],
    ),
    "concat of any length": lambda x: raw.TensorListConcat(
        input_handle=raw.TensorListSplit(tensor=x, element_shape=[-1, 3], lengths=np.int64([1, 0, 3])),
        element_dtype=tf.float32, element_shape=[None, 3],
    ),
    "concat with gaps": lambda x: raw.TensorListConcatV2(
        input_handle=raw.TensorListSetItem(
            input_handle=raw.TensorListReserve(element_shape=[-1, 3], num_elements=3, element_dtype=tf.float32),
            index=1, item=x,
        ),
        element_shape=[-1, 3], leading_dims=np.int64([2, 0, 1]), element_dtype=tf.float32,
    ),
    "add": lambda x: stacked(raw.AddN(inputs=[listed(x), listed(x * 2.0), listed(x)])),
    "add with gaps": lambda x: stacked(
        raw.AddN(inputs=[
            listed(x), raw.TensorListReserve(element_shape=[3], num_elements=4, element_dtype=tf.float32),
        ])
    ),
    "zeros like": lambda x: stacked(raw.ZerosLike(x=listed(x))),
    "expected count": lambda x: stacked(listed(x), num_elements=4) * 2.0,
    "of integers": lambda x: stacked(listed(tf.cast(x, tf.int64)), tf.int64),
    "of truths": lambda x: stacked(listed(x > 0.0), tf.bool),
    "of strings": lambda x: stacked(listed(tf.constant(["a", "b"])), tf.string),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_operator(name):
    check(OPERATORS[name], X, host={"TensorListFromTensor", "TensorListStack"} if "strings" in name else ())


WRONG = {
    "read behind the end": lambda x: raw.TensorListGetItem(
        input_handle=listed(x), index=4, element_shape=ANY, element_dtype=tf.float32
    ),
    "read before the start": lambda x: raw.TensorListGetItem(
        input_handle=listed(x), index=-1, element_shape=ANY, element_dtype=tf.float32
    ),
    "set behind the end": lambda x: raw.TensorListSetItem(input_handle=listed(x), index=4, item=x[0]),
    "item of another shape": lambda x: raw.TensorListSetItem(input_handle=listed(x, [3]), index=0, item=x),
    "pop of nothing": lambda x: raw.TensorListPopBack(
        input_handle=raw.EmptyTensorList(element_shape=ANY, max_num_elements=-1, element_dtype=tf.float32),
        element_shape=ANY, element_dtype=tf.float32,
    )[1],
    "too many": lambda x: raw.TensorListPushBack(
        input_handle=raw.EmptyTensorList(element_shape=ANY, max_num_elements=0, element_dtype=tf.float32), tensor=x
    ),
    "different lengths added": lambda x: raw.AddN(inputs=[listed(x), listed(x[:2])]),
    "stack of nothing": lambda x: stacked(
        raw.TensorListReserve(element_shape=ANY, num_elements=2, element_dtype=tf.float32)
    ),
    "stack of all sorts": lambda x: stacked(
        raw.TensorListSetItem(input_handle=listed(x), index=0, item=x)
    ),
    "other count": lambda x: stacked(listed(x), num_elements=3),
    "scalars never set put one behind the other": lambda x: raw.TensorListConcat(
        input_handle=reserved(3, SCALAR), element_dtype=tf.float32, element_shape=[])[0],
    "scalars put one behind the other": lambda x: raw.TensorListConcat(
        input_handle=listed(x[0], SCALAR), element_dtype=tf.float32, element_shape=[])[0],
    "elements of an unknown shape never set": lambda x: item(reserved(3, ANY), 1, ANY),
    "a negative number of elements": lambda x: reserved(tf.cast(tf.reduce_sum(x) * 0.0, tf.int32) - 1, [3]),
}  # fmt: skip


def reserved(count, shape):
    return raw.TensorListReserve(element_shape=shape, num_elements=count, element_dtype=tf.float32)


def item(items, index, shape):
    return raw.TensorListGetItem(input_handle=items, index=index, element_shape=shape, element_dtype=tf.float32)


def set_at(items, index, value):
    return raw.TensorListSetItem(input_handle=items, index=index, item=value)


def popped(items, shape):
    return raw.TensorListPopBack(input_handle=items, element_shape=shape, element_dtype=tf.float32)


def gradient_of_elements_of_two_shapes(x):
    parts = [x[0, 0], x[1]]
    with tf.GradientTape() as tape:
        tape.watch(parts)
        items = raw.EmptyTensorList(element_shape=ANY, max_num_elements=-1, element_dtype=tf.float32)
        for part in parts:
            items = raw.TensorListPushBack(input_handle=items, tensor=part)
        y = item(items, 1, ANY) * 3.0
    return tape.gradient(y, parts)


# Elements that were never set have the shape that is asked for, whatever the others have.
NEVER_SET = {
    "one of another shape": lambda x: item(set_at(reserved(3, ANY), 1, x[0]), 0, [2, 2]),
    "one of no dimensions": lambda x: item(set_at(reserved(3, ANY), 1, x[0]), 0, SCALAR),
    "as the others where nothing is asked": lambda x: item(set_at(reserved(3, ANY), 1, x[0]), 0, ANY),
    "popped": lambda x: popped(set_at(reserved(2, ANY), 0, x[0]), [5])[1],
    "popped, and then one that was set": lambda x: popped(popped(set_at(reserved(2, ANY), 0, x[0]), [5])[0], ANY)[1],
    "after the list has grown": lambda x: item(raw.TensorListResize(input_handle=listed(x), size=6), 5, [2]),
    "stacked": lambda x: stacked(set_at(reserved(3, ANY), 1, x[0])),
    "without elements": lambda x: stacked(reserved(0, [3])),
    "of no size": lambda x: stacked(reserved(3, [0, 2])),
}  # fmt: skip


@pytest.mark.parametrize("name", NEVER_SET)
def test_elements_never_set(name):
    check(NEVER_SET[name], X)


def test_gradients_have_the_shapes_of_the_elements():
    check(gradient_of_elements_of_two_shapes, X)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_is_refused_with_the_same_sentence(name):
    def f(x):
        out = WRONG[name](x)
        return raw.TensorListLength(input_handle=out) if out.dtype == tf.variant else out

    t = Traced(f, X, specs=[tf.TensorSpec(None, tf.float32)])
    with pytest.raises(tf.errors.InvalidArgumentError) as theirs:
        t.wanted()
    with pytest.raises(EngineError) as ours:
        t.run()
    sentence = re.search(r"([^\n]+)\n\t \[\[", theirs.value.message)[1].split("}} ")[-1]
    assert sentence in str(ours.value)
    assert not t.engine.host_nodes


def test_setting_costs_the_same_in_a_long_list():
    def f(n):
        array = tf.TensorArray(tf.float32, n, element_shape=[])
        for i in tf.range(400):
            array = array.write(i, 1.0)
        return array.size()

    t = Traced(f, np.int32(400))

    def fastest(n):
        took = []
        for _ in range(5):
            start = time.perf_counter()
            t.run(np.int32(n))
            took.append(time.perf_counter() - start)
        return min(took)

    fastest(400)
    # A copy of 200,000 handles a turn would take many times as long.
    assert fastest(200_000) < 10 * fastest(400)


def test_four_threads_share_a_list():
    def make(x):
        return listed(x, [3])

    def write(handle, i, row):
        handle = raw.TensorListSetItem(input_handle=handle, index=i, item=row)
        return raw.TensorListStack(input_handle=handle, element_shape=[3], element_dtype=tf.float32)

    maker = Traced(make, X)
    made = maker.engine.run(maker.name, [Value.of(X)], 1)[0]
    scalar = tf.TensorSpec([], tf.variant)
    writer = Traced(write, specs=[scalar, tf.TensorSpec([], tf.int32), tf.TensorSpec([3], tf.float32)])
    wrong = []

    def work(i):
        row = np.full(3, i, "float32")
        wanted = X.copy()
        wanted[i] = row
        for _ in range(50):
            got = writer.engine.run(writer.name, [made, Value.of(np.int32(i)), Value.of(row)], 1)[0].numpy()
            if not np.array_equal(got, wanted):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
