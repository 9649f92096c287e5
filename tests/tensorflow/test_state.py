# SPDX-License-Identifier: Apache-2.0
"""Variables and what keeps them: parts of them, copies, averages, checkpoints, their end."""

import copy
import gc
import pickle

import npu_device as npu
import numpy as np
import pytest
import tensorflow as tf
from both import on_both, on_cpu

layers = tf.keras.layers


@on_both
def test_parts_of_variables():
    v = tf.Variable(tf.zeros([4, 2]))
    v.scatter_add(tf.IndexedSlices(tf.ones([2, 2]), [0, 0]))
    v.scatter_nd_add([[1]], tf.ones([1, 2]))
    v.scatter_update(tf.IndexedSlices(tf.ones([1, 2]) * 7.0, [3]))
    v.scatter_max(tf.IndexedSlices(tf.ones([1, 2]) * 9.0, [1]))
    v[2].assign([3.0, 3.0])
    v[:, 1].assign(v[:, 1] * 2.0)
    batched = tf.Variable([[1, 2], [3, 4]])
    batched.batch_scatter_update(tf.IndexedSlices([[5], [6]], [[1], [0]]))
    read = v.sparse_read([0, 2]), tf.function(lambda: tf.gather(v, [0, 2]))(), v.gather_nd([[0], [3]])
    return v.read_value(), batched.read_value(), read


@on_both
def test_stacks_and_arrays_between_functions():
    raw = tf.raw_ops

    @tf.function
    def made():
        array, flow = raw.TensorArrayV3(size=3, dtype=tf.float32)
        stack = raw.StackV2(max_size=-1, elem_type=tf.float32)
        flow = raw.TensorArrayScatterV3(handle=array, indices=[0, 1, 2], value=[[1.0], [2.0], [3.0]], flow_in=flow)
        return array, stack, flow, raw.StackPushV2(handle=stack, elem=[4.0, 5.0])

    @tf.function
    def used(array, stack, flow):
        read = raw.TensorArrayReadV3(handle=array, index=1, flow_in=flow, dtype=tf.float32)
        return read + raw.StackPopV2(handle=stack, elem_type=tf.float32)

    @tf.function
    def both():
        array, stack, flow, pushed = made()
        with tf.control_dependencies([pushed]):
            return used(array, stack, flow)

    return both()


def test_a_stack_between_operators_stays_on_the_npu():
    stack = tf.raw_ops.StackV2(max_size=-1, elem_type=tf.float32)
    assert stack.dtype == tf.resource and "NPU" in stack.device
    tf.raw_ops.StackPushV2(handle=stack, elem=[1.0, 2.0])
    tf.raw_ops.StackPushV2(handle=stack, elem=[3.0])
    popped = [tf.raw_ops.StackPopV2(handle=stack, elem_type=tf.float32).numpy().tolist() for _ in range(2)]
    assert popped == [[3.0], [1.0, 2.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="is empty when calling Pop"):
        tf.raw_ops.StackPopV2(handle=stack, elem_type=tf.float32)
    with pytest.raises(tf.errors.UnimplementedError, match="cannot be copied to the host; read its elements"):
        tf.function(lambda: tf.py_function(lambda h: 1.0, [stack], tf.float32))()


@on_both
def test_variables_change_their_shape():
    u = tf.Variable([1], shape=tf.TensorShape(None))
    f = tf.function(lambda: tf.size(u) + tf.reduce_sum(u))
    first = f()
    u.assign([1, 2, 3])
    second = f()
    u.assign([[4], [5]])
    return first, second, f(), u.read_value(), u.is_initialized()


@on_both
def test_variables_are_numbers():
    v, w = tf.Variable([1.0, 2.0], dtype=tf.float16), tf.Variable(3, dtype=tf.int64)
    return v + 1.0, -w, w % 2, v[0], w // 2, np.asarray(v), [float(x) for x in v], v.value(), w.count_up_to(5)


@on_both
def test_copies_of_tensors_variables_and_models():
    model = tf.keras.Sequential([layers.Dense(2, input_shape=(2,), kernel_initializer="ones")])
    twins = tf.keras.models.clone_model(model), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)
    model.layers[0].kernel.assign([[1.0, 2.0], [3.0, 4.0]])
    x, v = tf.constant([[1.0, 2.0]]), tf.Variable(1.0)
    copied = copy.deepcopy(v)
    v.assign(5.0)
    return copy.deepcopy(x), copied, copy.copy(x), [t(x) for t in twins], model(x), [t.weights[0] for t in twins]


@on_both
def test_averages():
    v = tf.Variable([1.0, 2.0])
    e = tf.train.ExponentialMovingAverage(0.9, num_updates=tf.Variable(3))
    e.apply([v])
    v.assign([3.0, 4.0])

    @tf.function
    def again():
        e.apply([v])

    again()
    w = tf.Variable([1.0, 2.0])
    o = tf.keras.optimizers.Adam(use_ema=True, ema_momentum=0.9, clipnorm=1.0, weight_decay=0.1, jit_compile=True)
    for _ in range(3):
        o.apply_gradients([(tf.ones([2]), w)])
    trained = w.read_value()
    o.finalize_variable_values([w])
    return e.average(v).read_value(), trained, w.read_value()


@on_both
def test_saved_models_with_tables(tmp_path):
    class Model(tf.Module):
        def __init__(self):
            self.v = tf.Variable(3.0)
            words = tf.lookup.KeyValueTensorInitializer(tf.constant(["a"]), tf.constant([1.0]))
            self.table = tf.lookup.StaticHashTable(words, -1.0)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.string)])
        def __call__(self, x, words):
            return {"y": x * self.v + self.table.lookup(words)}

    tf.saved_model.save(Model(), str(tmp_path / "m"))
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    x, words = tf.constant([1.0, 2.0]), tf.constant(["a", "z"])
    first = loaded(x, words)
    loaded.v.assign(4.0)
    return first, loaded.signatures["serving_default"](x=x, words=words), loaded.v.read_value()


@on_both
def test_checkpoints(tmp_path):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(5, dtype=tf.int64)
    text = tf.Variable("kept")
    checkpoint = tf.train.Checkpoint(v=v, w=w, text=text)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    for _ in range(3):
        v.assign_add([1.0, 1.0])
        manager.save()
    v.assign([0.0, 0.0])
    text.assign("lost")
    checkpoint.restore(manager.checkpoints[0]).assert_consumed()
    late = tf.train.Checkpoint(v=tf.Variable([0.0, 0.0]))
    late.read(manager.latest_checkpoint).expect_partial()
    return v.read_value(), w.read_value(), text.read_value(), late.v.read_value(), len(manager.checkpoints)


def test_variables_of_the_cpu_beside_those_of_the_npu():
    v, w = on_cpu(lambda: tf.Variable(1.0)), tf.Variable(5.0)
    assert "CPU" in v.device and "NPU" in (v + 1.0).device
    assert tf.function(lambda x: v.assign_add(x))(tf.constant(2.0)).numpy() == 3
    assert tf.function(lambda: v.assign(w + v))().numpy() == 8
    w.assign(v)
    assert (v.numpy(), w.numpy()) == (8, 8)
    with tf.device("CPU"):
        assert (w + 1.0).numpy() == 9


def test_variables_values_and_functions_are_let_go():
    def live():
        gc.collect()
        return np.array(npu.open().live())

    @tf.function
    def step(v, x):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v * x)
        v.assign_sub(tape.gradient(y, v))
        return y

    def work():
        variables = [tf.Variable(tf.ones([3])) for _ in range(50)]
        return variables, [step(v, tf.ones([3])) for v in variables]

    work()
    before = live()
    kept = work()
    assert (live() - before >= [50, 50]).all()
    del kept
    assert (live() == before).all()


@on_both
def test_a_variable_lives_as_long_as_a_handle():
    v = tf.Variable([1.0])
    tf.raw_ops.DestroyResourceOp(resource=v.handle)
    v.assign([4.0])

    def kept(v):
        return v.handle, tf.function(lambda: v + 1.0).get_concrete_function()

    handle, read = kept(v)
    del v
    gc.collect()
    return read(), tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)


def test_a_variable_without_a_value():
    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2])

    @tf.function
    def f():
        return tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32) * 2.0  # the line

    line = f.python_function.__code__.co_firstlineno + 2
    with pytest.raises(tf.errors.FailedPreconditionError, match="initialize it first") as e:
        f()
    assert f'File "{__file__}", line {line}, in f' in str(e.value)
    with pytest.raises(tf.errors.FailedPreconditionError, match="initialize it first"):
        tf.raw_ops.AssignAddVariableOp(resource=handle, value=tf.ones([2]))
    tf.raw_ops.AssignVariableOp(resource=handle, value=tf.ones([2]))
    assert f().numpy().tolist() == [2, 2]
