# SPDX-License-Identifier: Apache-2.0
"""The device as TensorFlow sees it: placement, variables, functions, threads, errors."""

import gc
import threading

import npu_device as npu
import numpy as np
import pytest
import tensorflow as tf
from npu_device.adapter import library

NAME = "/job:localhost/replica:0/task:0/device:NPU:0"


def test_values_live_on_the_npu():
    x = tf.constant([1.0, 2.0])
    assert x.device == (x + x).device == tf.Variable(x).device == NAME
    np.testing.assert_array_equal((x + x).numpy(), [2, 4])
    with tf.device("CPU"):
        assert "CPU" in tf.constant(1.0).device
    for name in ("/device:NPU:0", "/NPU:0", "NPU:0"):
        with tf.device("CPU"), tf.device(name):
            assert tf.constant(1.0).device == NAME


def test_opening_again_gives_the_same_handle():
    handle = npu.open()
    assert handle is npu.open(0) and handle.name() == NAME
    assert (handle.workers_num, handle.worker_id, handle.is_cluster_worker()) == (1, 0, False)
    with handle.scope():
        assert tf.ones([2]).device == NAME


def test_python_threads_start_on_the_npu():
    found = []
    thread = threading.Thread(target=lambda: found.append(tf.ones([1]).device))
    thread.start()
    thread.join()
    assert found == [NAME]


def test_a_value_read_outlives_its_variable():
    v = tf.Variable([1.0, 2.0])
    read = v.read_value()
    v.assign_add([1.0, 1.0])
    np.testing.assert_array_equal(read.numpy(), [1, 2])
    np.testing.assert_array_equal(v.numpy(), [2, 3])
    del v
    gc.collect()
    np.testing.assert_array_equal(read.numpy(), [1, 2])


def test_threads_lose_no_update():
    v = tf.Variable(0.0)

    @tf.function
    def step():
        v.assign_add(1.0)

    threads = [threading.Thread(target=lambda: [step() for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert v.numpy() == 200


def test_a_function_with_loops_branches_and_state():
    v = tf.Variable(1.0)

    @tf.function
    def f(x, n):
        total = tf.constant(0.0)
        for i in tf.range(n):
            if i % 2 == 0:
                v.assign_add(x)
            total += v * tf.cast(i, tf.float32)
        return total

    assert f(tf.constant(2.0), tf.constant(4)).numpy() == 0 + 3 * 1 + 5 * 2 + 5 * 3
    assert v.numpy() == 5


def test_a_loop_over_a_data_set_runs_on_the_npu():
    v = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def f(ds):
        for x in ds:
            v.assign_add(x)

    f(tf.data.Dataset.range(5))
    assert v.numpy() == 10 and v.device == NAME


def test_a_data_set_sees_the_variable_it_captures():
    v = tf.Variable(10, dtype=tf.int64)
    ds = tf.data.Dataset.range(3).map(lambda x: x + v)
    assert [int(x) for x in ds] == [10, 11, 12]
    v.assign(20)
    assert [int(x) for x in ds] == [20, 21, 22]


def test_strings_and_tables_stay_with_tensorflow():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    np.testing.assert_array_equal(tf.function(table.lookup)(tf.constant(["b", "z"])).numpy(), [2, -1])
    assert (tf.constant(["a", "b"]) == tf.constant(["a", "c"])).numpy().tolist() == [True, False]


def test_an_eager_error_has_tensorflows_class_and_our_text():
    with pytest.raises(tf.errors.InvalidArgumentError, match="inner sizes differ .3 and 2.* .Op:MatMul."):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    np.testing.assert_array_equal(tf.matmul(tf.ones([1, 1]), tf.ones([1, 1])).numpy(), [[1]])


@pytest.mark.promise("tf.functions, variables, threads, data sets, errors at the user's line")
def test_an_error_in_a_graph_points_at_the_users_line():
    @tf.function
    def f(x, n):
        for _ in tf.range(n):
            x = tf.reshape(x * 2.0, [n + 1])  # the line
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match="3 elements cannot have the shape 5") as e:
        f(tf.ones([3]), tf.constant(4))
    line = f.python_function.__code__.co_firstlineno + 3
    assert f'File "{__file__}", line {line}, in f' in str(e.value)
    np.testing.assert_array_equal(f(tf.ones([3]), tf.constant(2)).numpy(), [4, 4, 4])


def test_an_exception_in_python_code_of_a_graph():
    def broken(_):
        raise ValueError("spoilt")

    @tf.function
    def f(x):
        return tf.py_function(broken, [x * 2.0], tf.float32)

    with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: spoilt"):
        f(tf.ones([1]))
    assert (tf.ones([1]) * 2.0).numpy() == 2


def test_reading_an_uninitialized_variable():
    v = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[])
    with pytest.raises(tf.errors.FailedPreconditionError, match="initialize it first"):
        tf.raw_ops.ReadVariableOp(resource=v, dtype=tf.float32)
    assert not tf.raw_ops.VarIsInitializedOp(resource=v).numpy()


@pytest.mark.parametrize("size", ["0", "-3", "many", 0, -1, 2.5, None])
def test_a_loop_size_must_be_above_zero(size):
    with pytest.raises(ValueError, match=f"Npu loop size must be greater than 0, got {size}"):
        npu.set_npu_loop_size(size)


def test_a_loop_size_leaves_loops_as_long_as_they_are():
    @tf.function
    def loop(n):
        total = tf.constant(0)
        for i in tf.range(n):
            total += i
        return total

    for size in (np.int64(100), 1):
        npu.set_npu_loop_size(size)
        assert loop(tf.constant(5)).numpy() == 10


@pytest.mark.parametrize("feed", ["read ahead", "on its way"])
def test_a_sunk_loop_ends_at_the_step_whose_element_fails(feed):
    total = tf.Variable(0, dtype=tf.int64)
    ds = tf.data.Dataset.range(6).map(lambda x: 12 // (3 - x))  # 4, 6, 12, and a division by zero
    if feed == "on its way":
        ds = ds.map(lambda x: tf.py_function(lambda y: y, [x], tf.int64))

    @tf.function
    def loop(ds):
        it = iter(ds)
        for _ in tf.range(6):
            total.assign_add(next(it))

    with pytest.raises(tf.errors.InvalidArgumentError, match="zero"):
        loop(ds)
    assert total.numpy() == 22
    total.assign(0)
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        loop(ds.take(2))
    assert total.numpy() == 10


def test_a_device_that_is_not_there_is_refused_with_the_reason():
    with pytest.raises(RuntimeError, match=r"Failed open npu device 99 : .*ANYNPU_DEVICES"):
        library.open_device(99, "/device:NPU:99")
