# SPDX-License-Identifier: Apache-2.0
"""Names by which scripts of the vendor's collection of models import npu_bridge: each is there and does what it says,
or refuses by name."""

import importlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from npu_bridge.estimator import npu_aicore_ops, npu_ops
from npu_bridge.estimator.npu import npu_optimizer, npu_plugin, npu_scope
from npu_bridge.estimator.npu.npu_config import NpuExecutePlacement
from npu_bridge.helper import helper
from npu_bridge.npu_cpu import npu_cpu_ops
from npu_device import gen_npu_ops

NAMES = """estimator.npu_unary_ops:npu_unary_ops.gelu estimator.npu.npu_optimizer:allreduce
    estimator.npu.npu_config:NpuExecutePlacement estimator.npu.npu_plugin:malloc_shared_memory
    estimator.npu.npu_plugin:get_rdma_cache estimator.npu.npu_plugin:rdma_remote_register
    estimator.npu.npu_plugin:rdma_remote_init estimator.npu.npu_plugin:get_var_addr_and_size
    estimator.npu_ops:LARS estimator.npu_ops:basic_lstm_cell estimator.npu_ops:adam_apply_one_assign
    estimator.npu_ops:adam_apply_one_with_decay_assign npu_cpu.npu_cpu_ops:embeddingrankid
    npu_cpu.npu_cpu_ops:RandomChoiceWithMask npu_cpu.npu_cpu_ops:dense_image_warp npu_cpu.lru_cache:LruCache
    npu_cpu.npu_cpu_ops:gen_npu_cpu_ops.fast_gelu estimator.npu_aicore_ops:dropout_v3
    estimator.npu_aicore_ops:centralization estimator.npu_aicore_ops:prelu estimator.npu_aicore_ops:nonzero
    estimator.npu_aicore_ops:npu_aicore_ops.fast_gelu helper.helper:get_gen_ops helper.helper:version
    hccl.hccl_ops:broadcast npu_init:util.set_iteration_per_loop npu_init:util.set_graph_exec_config
    npu_init:npu_scope.npu_variable_scope"""
NUMBERS = np.random.default_rng(5)


def numbers(*shape):
    return NUMBERS.standard_normal(shape).astype("float32")


def values(f):
    """What a session gives for what `f` builds."""
    with tf.Graph().as_default(), tf.Session() as session:
        built = f()
        session.run(tf.global_variables_initializer())
        return session.run(built)


def near(got, wanted, tolerance=2e-6):
    np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * max(1, np.max(np.abs(wanted), initial=0)))


@pytest.mark.parametrize("name", NAMES.split())
@pytest.mark.parametrize("package", ["npu_bridge", "npu_device.compat.v1"])
def test_a_name_can_be_imported(package, name):
    module, path = name.split(":")
    found = importlib.import_module(f"{package}.{module}")
    found = found.named(path.split(".")[0]) if module == "npu_init" and package == "npu_bridge" else found
    for part in path.split(".")[module == "npu_init" and package == "npu_bridge" :]:
        found = getattr(found, part)
    assert found is not None


@pytest.mark.parametrize("name", ["tbe", "tbe.npu_cube_ops", "tbe.npu_vector_ops", "tf_adapter"])
def test_what_is_no_part_of_it_says_so(name):
    with pytest.raises(ImportError, match=f"npu_bridge.{name.split('.')[0]} is not built: "):
        importlib.import_module(f"npu_bridge.{name}")


@pytest.mark.parametrize("call", [
    lambda: npu_cpu_ops.embeddingrankid(None, None),
    lambda: importlib.import_module("npu_bridge.npu_cpu.lru_cache").LruCache(),
    lambda: npu_plugin.malloc_shared_memory("v", [2], 0),
    lambda: npu_plugin.rdma_remote_register([]),
    lambda: npu_plugin.rdma_remote_init([], 1),
    lambda: npu_plugin.get_var_addr_and_size("v"),
])  # fmt: skip
def test_memory_of_other_processes_is_refused_by_name(call):
    with pytest.raises(NotImplementedError, match="is not built: .* tf.Variable"):
        call()


def test_a_placement_is_one_of_npu_variable_scope():
    with pytest.warns(UserWarning), tf.Graph().as_default(), npu_scope.npu_variable_scope(NpuExecutePlacement.HOST):
        assert tf.constant(1.0).op.get_attr("_variable_placement") == b"host"
    assert [one.value for one in NpuExecutePlacement] == ["all", "cube", "vector", "taishan", "dvpp", "host"]


def test_the_older_allreduce_of_a_process_that_trains_alone():
    x = np.float32([1, 2])
    assert npu_optimizer.allreduce(x, None) is x and npu_optimizer.allreduce(x, None, average=False) is x


def test_a_cache_is_a_variable_of_zeros():
    assert values(lambda: npu_plugin.get_rdma_cache(tf.float32, [2, 3])).tolist() == np.zeros([2, 3]).tolist()


def test_lars_of_several_weights():
    weights, grads = [numbers(3, 2), numbers(4)], [numbers(3, 2), numbers(4)]
    got = values(lambda: npu_ops.LARS([tf.constant(w) for w in weights], grads, 0.01, 0.002, 1e-4))
    for one, weight, grad in zip(got, weights, grads, strict=True):
        w, g = weight.astype("float64"), grad.astype("float64")
        size = np.sqrt((w * w).sum())
        near(one, (g + 0.01 * w) * 0.002 * size / (np.sqrt((g * g).sum()) + 0.01 * size + 1e-4))
    with pytest.raises(ValueError, match="2 weights and 1 gradients"):
        npu_ops.LARS(weights, grads[:1], 0.01)


@pytest.mark.parametrize("decay", [None, 0.01])
@pytest.mark.parametrize("variables", [True, False])
def test_a_step_of_adam(decay, variables):
    grad, v, m, weight = numbers(3), np.abs(numbers(3)), numbers(3), numbers(3)
    settings = [0.9, 0.1, 0.999, 0.001, *([] if decay is None else [decay]), 1e-6]

    def build():
        given = [tf.Variable(one) if variables else tf.constant(one) for one in (v, m, weight)]
        step = npu_ops.adam_apply_one_assign if decay is None else npu_ops.adam_apply_one_with_decay_assign
        made = step(tf.constant(grad), *given, tf.constant(0.1), *settings)
        with tf.control_dependencies(made):
            return made, [tf.identity(one.read_value() if variables else one) for one in given]

    made, after = values(build)
    grad, v, m, weight = (one.astype("float64") for one in (grad, v, m, weight))
    new_m, new_v = 0.9 * m + 0.1 * grad, 0.999 * v + 0.001 * grad * grad
    new = weight - 0.1 * (new_m / (np.sqrt(new_v) + 1e-6) + (decay or 0) * weight)
    for got, wanted in zip(made, (new_v, new_m, new), strict=True):
        near(got, wanted, 5e-6)
    for got, wanted in zip(after, made if variables else (v, m, weight), strict=True):
        near(got, wanted)


def test_a_step_of_an_lstm():
    x, h, c, w, b = numbers(2, 3), numbers(2, 4), numbers(2, 4), numbers(7, 16), numbers(16)

    def build():
        cell = tf.nn.rnn_cell.BasicLSTMCell(4, forget_bias=0.5)
        state = tf.nn.rnn_cell.LSTMStateTuple(tf.constant(c), tf.constant(h))
        cell.build(tf.TensorShape([2, 3]))
        with tf.control_dependencies([tf.assign(cell.weights[0], w), tf.assign(cell.weights[1], b)]):
            out, new = cell.call(tf.identity(x), state)
        mine = npu_ops.basic_lstm_cell(x, h, c, w, b, 1.0, 0.5, True, "tanh")
        return mine, (new.c, out)

    mine, theirs = values(build)
    assert len(mine) == 7
    for got, wanted in zip(mine, theirs, strict=False):
        near(got, wanted)
    near(mine[6], np.tanh(mine[0]))
    with pytest.raises(NotImplementedError, match="keep_prob=0.5 .use 1.0., activation='relu'"):
        npu_ops.basic_lstm_cell(x, h, c, w, b, 0.5, 1.0, True, "relu")


def test_places_chosen_by_chance():
    x = NUMBERS.random((5, 6)) < 0.4
    places = {tuple(place) for place in np.argwhere(x)}
    for count in (0, 3, 40):
        y, mask = values(lambda n=count: npu_cpu_ops.RandomChoiceWithMask(tf.constant(x), n, seed=7))
        taken = [tuple(place) for place in y[mask]]
        assert len(taken) == len(set(taken)) == (min(count, len(places)) or len(places)) and set(taken) <= places
        assert y.shape == (count or len(places), 2) and not y[~mask].any()
    with pytest.raises(ValueError, match="count is -1"):
        npu_cpu_ops.RandomChoiceWithMask(tf.constant(x), -1)
    with pytest.raises(TypeError, match="must be of bool"):
        npu_cpu_ops.RandomChoiceWithMask(tf.constant([1.0]), 1)


def warped(image, flow):
    """By the definition, place by place."""
    out = np.zeros(image.shape)
    _, height, width, _ = image.shape
    for n, row, column in np.ndindex(*image.shape[:3]):
        y = np.clip(row - flow[n, row, column, 0], 0, height - 1)
        x = np.clip(column - flow[n, row, column, 1], 0, width - 1)
        top, left = min(int(y), height - 2), min(int(x), width - 2)
        for i, j in np.ndindex(2, 2):
            share = abs(1 - i - (y - top)) * abs(1 - j - (x - left))
            out[n, row, column] += share * image[n, top + i, left + j]
    return out


def test_an_image_warped_by_a_flow():
    image, flow = numbers(2, 5, 4, 3), 2 * numbers(2, 5, 4, 2)
    near(values(lambda: npu_cpu_ops.dense_image_warp(tf.constant(image), tf.constant(flow))), warped(image, flow))

    def gradients():
        given = tf.constant(image), tf.constant(flow)
        return tf.gradients(npu_cpu_ops.dense_image_warp(*given), given)

    of_image, of_flow = values(gradients)
    near(of_image.sum(), image.size, 1e-5)  # each place passes on shares that add up to 1
    step = np.zeros_like(flow)
    step[0, 2, 2, 1] = 1e-3
    wanted = (warped(image, flow + step).sum() - warped(image, flow - step).sum()) / 2e-3
    assert abs(of_flow[0, 2, 2, 1] - wanted) < 1e-2 * max(1, abs(wanted))
    with pytest.raises(ValueError, match="at least two rows"):
        npu_cpu_ops.dense_image_warp(image[:, :1], flow[:, :1])


def test_operators_of_the_cores():
    x, weight = numbers(3, 4), numbers(4)
    near(values(lambda: npu_aicore_ops.centralization(x, [1])), x - x.mean(1, keepdims=True))
    near(values(lambda: npu_aicore_ops.prelu(x, weight)), np.where(x > 0, x, weight * x))
    near(values(lambda: npu_aicore_ops.nonzero(x > 0)), np.argwhere(x > 0))
    near(values(lambda: npu_aicore_ops.nonzero(np.int32([0, 3]), transpose=True, output_type=tf.int32)), [[1]])
    assert npu_aicore_ops.dropout_v3 is npu_ops.dropout
    assert helper.get_gen_ops() is gen_npu_ops


@pytest.mark.parametrize("axis", [1, -1])
@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-6), ("float16", 2e-3)])
def test_a_layer_normalised(axis, dtype, tolerance):
    x = numbers(3, 4, 5).astype(dtype)
    gamma, beta = (numbers(*x.shape[axis:]).astype(dtype) for _ in range(2))
    y, mean, variance = values(lambda: gen_npu_ops.fused_layer_norm(x, gamma, beta, axis, axis, 1e-5))
    wide, axes = x.astype("float64"), tuple(range(axis % 3, 3))
    wanted_mean, wanted_variance = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
    near(mean, wanted_mean, tolerance)
    near(variance, wanted_variance, tolerance)
    near(y, (wide - wanted_mean) / np.sqrt(wanted_variance + 1e-5) * gamma + beta, tolerance)
    assert y.dtype == dtype
    with pytest.raises(ValueError, match="must be axes of it"):
        gen_npu_ops.fused_layer_norm(x, gamma, beta, 3, 3)
