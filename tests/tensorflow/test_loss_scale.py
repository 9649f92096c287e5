# SPDX-License-Identifier: Apache-2.0
"""Loss scaling: the NPU's optimizer does what Keras's does on the CPU, whichever way the device treats overflow."""

import functools
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import loss_scaled
import movement
import npu_device as npu
import numpy as np
import pytest
import tensorflow as tf
from both import on_cpu
from loss_scaled import LARGE, STEPS
from npu_device import gen_npu_ops
from npu_device.setting import overflow

Keras = tf.keras.mixed_precision.LossScaleOptimizer
Npu = npu.train.optimizer.NpuLossScaleOptimizer
INNER = {
    "sgd": lambda: tf.keras.optimizers.SGD(1e-3, momentum=0.5),
    "adam": lambda: tf.keras.optimizers.Adam(1e-3),
    "legacy": lambda: tf.keras.optimizers.legacy.SGD(1e-3, momentum=0.5),
}


@pytest.fixture(params=["saturation", "inf_nan"])
def mode(request):
    npu.set_device_sat_mode(0 if request.param == "saturation" else 1)
    gen_npu_ops.npu_clear_float_status_v2()
    yield request.param
    npu.set_device_sat_mode(1)


@pytest.fixture
def saturating():
    npu.set_device_sat_mode(0)
    gen_npu_ops.npu_clear_float_status_v2()
    yield npu.open().overflows
    npu.set_device_sat_mode(1)


@pytest.mark.promise(
    "the NPU's loss scaling optimizer skips and scales as Keras's; an overflow is told with operator and step"
)
@pytest.mark.parametrize("inner", INNER)
def test_the_scale_and_the_steps_are_those_of_keras_on_the_cpu(mode, inner):
    def run(kind):
        optimizer = kind(INNER[inner](), initial_scale=1024, dynamic_growth_steps=3)
        return loss_scaled.train(optimizer)

    (theirs, cpu), (ours, npu_weights) = on_cpu(run, Keras), run(Npu)
    print(f"{mode}, {inner}: scale after each step", *(step[0] for step in ours))
    assert ours == theirs
    # Two steps of three doublings and, in between, the one that is left out.
    assert [step[0] for step in ours] == [1024, 1024, 2048, 2048, 2048, 1024, 1024, 1024]
    assert [step[3] for step in ours] == [i != LARGE for i in range(STEPS)]
    assert [step[2] for step in ours] == list(range(1, STEPS + 1)), "steps left out count as iterations"
    for a, b in zip(npu_weights, cpu, strict=True):
        np.testing.assert_allclose(a, b, 2e-3, 1e-5)
    exact = on_cpu(loss_scaled.train_exactly, INNER[inner]())
    movement.assert_alike(loss_scaled.moved_to(npu_weights), exact)


@pytest.mark.parametrize("inner", ["sgd", "legacy"])
def test_a_fixed_scale_leaves_out_what_overflows(mode, inner):
    optimizer = Npu(INNER[inner](), dynamic=False, initial_scale=256)
    told, weights = loss_scaled.train(optimizer)
    assert told == [(256, None, i + 1, i != LARGE) for i in range(STEPS)]
    assert all(np.isfinite(w).all() for w in weights)
    assert bool(optimizer.last_step_finite) and not optimizer.dynamic


@pytest.mark.parametrize("dynamic", [True, False])
def test_under_a_strategy_of_one_device(mode, dynamic):
    strategy = tf.distribute.OneDeviceStrategy("/CPU:0")
    with strategy.scope():
        optimizer = Npu(INNER["sgd"](), dynamic, 1024)
        told, _ = loss_scaled.train(optimizer, strategy)
    assert [step[3] for step in told] == [i != LARGE for i in range(STEPS)]
    assert told[-1][0] == (512 if dynamic else 1024) and int(optimizer.iterations) == STEPS


def test_the_first_overflow_is_told_with_its_operator_and_step(saturating):
    before = len(saturating())
    loss_scaled.train(Npu(INNER["sgd"](), initial_scale=1024))
    (found,) = saturating()[before:]
    print(found)
    assert found["type"] == "MatMulV2" and "half/MatMul" in found["node"] and "step" in found["function"]
    assert (found["dtype"], found["shape"], found["inf"], found["nan"], found["saturated"]) == (
        "float16", (4, 16), 64, 0, 64)  # fmt: skip
    assert found["min"] == found["max"] == 0, "there is no finite element"
    again = len(saturating())
    loss_scaled.train_sunk(Npu(INNER["sgd"](), initial_scale=1024))
    (sunk,) = saturating()[again:]
    assert sunk["step"] - found["step"] == STEPS, "the same step of the next training"
    assert sunk["type"] == "MatMulV2"


def test_a_loop_in_one_function_is_the_same_training(mode):
    sgd = INNER["sgd"]
    iterations, scale, sunk = loss_scaled.train_sunk(Npu(sgd(), initial_scale=1024))
    told, weights = loss_scaled.train(Npu(sgd(), initial_scale=1024))
    assert (iterations, scale) == (told[-1][2], told[-1][0]) == (STEPS, 512)
    for a, b in zip(sunk, weights, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_scale_goes_no_lower_than_one_and_stays_below_the_largest_float(mode):
    variable = tf.Variable([1.0])
    for start, grad, expected in ((2.0, np.inf, (1, 1, 1)), (2.0**126, 0.0, (2.0**127,) * 3)):
        optimizer = Npu(tf.keras.optimizers.SGD(1.0), initial_scale=start, dynamic_growth_steps=1)

        @tf.function
        def step(g, optimizer=optimizer):
            optimizer.apply_gradients([(g[None], variable)])

        scales = []
        for _ in expected:
            step(tf.constant(float(grad)))
            scales.append(float(optimizer.loss_scale))
        assert tuple(scales) == expected
        assert bool(optimizer.last_step_finite) == np.isfinite(grad)


def test_rows_of_an_embedding_and_variables_without_a_gradient(mode):
    table, other = tf.Variable(tf.ones([4, 2])), tf.Variable([5.0])
    optimizer = Npu(tf.keras.optimizers.SGD(1.0), initial_scale=4)

    @tf.function
    def step(factor):
        with tf.GradientTape() as tape:
            loss = optimizer.get_scaled_loss(tf.reduce_sum(tf.gather(table, [1, 1, 3])) * factor)
        grads = optimizer.get_unscaled_gradients(tape.gradient(loss, [table, other]))
        optimizer.apply_gradients(zip(grads, [table, other], strict=True))

    step(tf.constant(1.0))
    np.testing.assert_array_equal(table.numpy()[:, 0], [1, -1, 1, 0])
    step(tf.constant(1e38))  # three of it, four times as large
    np.testing.assert_array_equal(table.numpy()[:, 0], [1, -1, 1, 0])
    assert float(optimizer.loss_scale) == 2 and not bool(optimizer.last_step_finite)


def test_eager_steps(mode):
    variable = tf.Variable([1.0], dtype=tf.float32)
    optimizer = Npu(tf.keras.optimizers.SGD(0.5), initial_scale=8)
    for factor, expected in ((1.0, 0.5), (1e38, 0.5), (1.0, 0.0)):
        with tf.GradientTape() as tape:
            loss = optimizer.get_scaled_loss(tf.reduce_sum(variable) * factor)
        grads = optimizer.get_unscaled_gradients(tape.gradient(loss, [variable]))
        optimizer.apply_gradients(zip(grads, [variable], strict=True))
        assert float(variable[0]) == expected
    assert float(optimizer.loss_scale) == 4 and int(optimizer.iterations) == 3


def test_fit(mode):
    net = loss_scaled.model()
    net.compile(Npu(INNER["adam"](), initial_scale=1024), "sparse_categorical_crossentropy")
    x, y = loss_scaled.batches()
    net.fit(x.reshape(-1, 8), y.reshape(-1), batch_size=4, epochs=2, shuffle=False, verbose=0)
    assert int(net.optimizer.iterations) == 2 * STEPS and float(net.optimizer.loss_scale) == 256
    assert net.optimizer.inner_optimizer.iterations is net.optimizer.iterations


@pytest.mark.parametrize("inner", INNER)
def test_it_is_keras_s_optimizer_and_is_saved_as_one(inner, tmp_path):
    def made(kind):
        optimizer = kind(INNER[inner](), initial_scale=64, dynamic_growth_steps=7)
        assert isinstance(optimizer, Keras)
        net = loss_scaled.model()
        loss_scaled.stepper(net, optimizer)(*(tf.constant(b[0]) for b in loss_scaled.batches()))
        return optimizer, tf.train.Checkpoint(optimizer=optimizer, net=net)

    keras, theirs = made(Keras)
    ours, mine = made(Npu)
    assert isinstance(ours, Npu) and not isinstance(keras, Npu)
    assert ours.get_config() == keras.get_config()
    assert type(ours).from_config(ours.get_config()).get_config() == ours.get_config()
    for name, source, target, values in (("keras", theirs, mine, keras), ("npu", mine, theirs, ours)):
        values.dynamic_counter.assign(5)
        values._loss_scale.current_loss_scale.assign(32)
        path = source.write(str(tmp_path / name))
        target.read(path).assert_consumed()
    assert (float(ours.loss_scale), int(keras.dynamic_counter)) == (32, 5)
    assert all((a.numpy() == b.numpy()).all() for a, b in zip(mine.net.weights, theirs.net.weights, strict=True))


def test_a_saved_model_comes_back_with_it(tmp_path):
    net = loss_scaled.model()
    net.compile(Npu(INNER["adam"](), initial_scale=1024), "mse")
    net.train_on_batch(np.ones([4, 8], "float32"), np.ones([4, 3], "float32"))
    net.save(tmp_path / "net.keras")
    back = tf.keras.models.load_model(tmp_path / "net.keras").optimizer
    assert isinstance(back, Npu) and back.get_config() == net.optimizer.get_config()
    assert int(back.iterations) == 1


def test_keras_s_own_says_that_it_sees_nothing_where_overflow_saturates(saturating):
    def step(kind):
        optimizer, variable = kind(tf.keras.optimizers.SGD(1.0)), tf.Variable([1.0])
        tf.function(lambda: optimizer.apply_gradients([(tf.constant([1.0]), variable)]))()

    for mode, run, kind, warned in ((0, step, Keras, True), (0, step, Npu, False), (1, step, Keras, False),
                                    (0, functools.partial(on_cpu, step), Keras, False)):  # fmt: skip
        npu.set_device_sat_mode(mode)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            run(kind)
        assert any("NpuLossScaleOptimizer" in str(w.message) for w in seen) == warned


def test_the_option_overflow_flag_switches_detection(on_the_first_generation):
    assert on_the_first_generation[0]["unseen"] == [65504, 0], "saturated, and nobody heard of it"


def test_without_detection_the_optimizer_says_that_it_sees_nothing(saturating):
    before = len(saturating())
    overflow.detect(0, 0)
    try:
        with pytest.warns(UserWarning, match="NpuLossScaleOptimizer sees no overflow.*overflow_flag is 0; leave it"):
            told, _ = loss_scaled.train(Npu(INNER["sgd"](), initial_scale=1024))
    finally:
        overflow.detect(0, 1)
    assert all(step[3] for step in told) and len(saturating()) == before


def test_the_experimental_one():
    make = npu.train.optimizer.npu_loss_scale_optimizer.NpuExperimentalLossScaleOptimizer
    v1 = tf.compat.v1.mixed_precision
    made = [
        make(INNER["sgd"](), scale) for scale in ("dynamic", 128, v1.FixedLossScale(64), v1.DynamicLossScale(32, 5))
    ]
    assert [(o.dynamic, float(o.loss_scale), o.dynamic_growth_steps) for o in made] == [
        (True, 32768, 2000), (False, 128, None), (False, 64, None), (True, 32, 5)]  # fmt: skip
    with pytest.raises(ValueError, match='must be "dynamic", a number'):
        make(INNER["sgd"](), "static")
    with pytest.raises(ValueError, match="multiplier of loss_scale is 3"):
        make(INNER["sgd"](), v1.DynamicLossScale(multiplier=3.0))


def test_wrong_calls_are_refused_as_keras_does():
    for arguments, error in (("no optimizer",), TypeError), ((INNER["sgd"](), "dynamic"), TypeError), (
        (INNER["sgd"](), False), ValueError):  # fmt: skip
        with pytest.raises(error):
            Npu(*arguments)
    with pytest.raises(TypeError):
        Npu(Npu(INNER["sgd"]()))


def test_modes():
    assert npu.is_inf_nan_enabled()
    for wrong in (2, 3, -1, 1.0, "1", None):
        with pytest.raises(ValueError, match=r"it must be 0 \(saturation\) or 1"):
            npu.set_device_sat_mode(wrong)
    npu.npu_device.set_device_sat_mode(0)
    assert not npu.is_inf_nan_enabled()
    assert float(tf.constant(6e4, tf.half) * 2) == 65504
    npu.npu_device.set_device_sat_mode(1)
    assert np.isinf(float(tf.constant(6e4, tf.half) * 2))


def test_operators_of_the_overflow_word(saturating):
    assert gen_npu_ops.npu_get_float_status_v2().numpy().tolist() == [0] * 8

    @tf.function
    def read(x):
        y = tf.exp(x)
        with tf.control_dependencies([y]):
            status = gen_npu_ops.npu_get_float_status_v2()
        with tf.control_dependencies([status]):
            gen_npu_ops.npu_clear_float_status_v2()
        return y, status

    y, status = read(tf.constant([1.0, 100.0]))
    assert y.numpy()[1] == np.finfo("float32").max and status.shape == (8,) and status.dtype == tf.int32
    assert status.numpy().tolist() == [1] + [0] * 7
    assert gen_npu_ops.npu_get_float_status_v2().numpy()[0] == 0
    assert "npu_clear_float_status_v2" in dir(npu.gen_npu_ops)
    with tf.device("CPU"):
        assert not gen_npu_ops.npu_get_float_status_v2().numpy().any()
        gen_npu_ops.npu_clear_float_status_v2()


def test_the_first_edition_of_the_overflow_word(saturating):
    @tf.function
    def read(x):
        status = gen_npu_ops.npu_alloc_float_status()
        with tf.control_dependencies([tf.exp(x)]):
            local = gen_npu_ops.npu_get_float_status(status)
        cleared = gen_npu_ops.npu_clear_float_status(local)
        return local, cleared, tf.reduce_all(tf.equal(local, cleared))

    for x, word in ((100.0, 1.0), (1.0, 0.0)):
        local, cleared, finite = read(tf.constant(x))
        assert local.numpy().tolist() == [word] + [0.0] * 7 and not cleared.numpy().any() and bool(finite) != bool(word)
    with tf.device("CPU"):
        assert read(tf.constant(100.0))[2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        gen_npu_ops.npu_get_float_status(tf.constant([0.0]))


def test_nodes_of_the_host_saturate_too(saturating):
    before = len(saturating())
    x = tf.constant([[1e30, 0.0], [0.0, 1e30]])
    assert np.isfinite(tf.linalg.expm(x).numpy()).all()
    doubled = tf.function(lambda v: tf.py_function(lambda a: a * 1e30, [v], tf.float32))(x)
    assert doubled.numpy().max() == np.finfo("float32").max
    assert len(saturating()) == before + 1


@pytest.fixture(scope="module")
def on_the_first_generation():
    variables = {**os.environ, "ANYNPU_SOC": "Ascend910A", "TF_CPP_MIN_LOG_LEVEL": "1"}
    folders = [Path(npu.__file__).parents[1], Path(movement.__file__).parent, variables.get("PYTHONPATH", "")]
    variables["PYTHONPATH"] = os.pathsep.join(map(str, folders))
    command = [sys.executable, loss_scaled.__file__]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout), done.stderr


def test_a_910a_saturates_and_nothing_else(on_the_first_generation):
    told, stderr = on_the_first_generation
    assert not told["inf_nan"] and told["half"] == 65504
    assert told["refused"][0].startswith("RuntimeError") and "Ascend910A only saturates" in told["refused"][0]
    assert told["refused"][1].startswith("ValueError")
    assert (told["iterations"], told["scale"], told["same"]) == (STEPS, 512, True)
    assert [step[0] for step in told["stepwise"]] == [1024] * LARGE + [512] * (STEPS - LARGE)
    exact = on_cpu(loss_scaled.train_exactly, tf.keras.optimizers.SGD(1e-3))
    movement.assert_alike({name: np.array(array) for name, array in told["moved"].items()}, exact)
    assert [o["step"] for o in told["overflows"]][:2] == [LARGE, STEPS + LARGE]
    assert [o["type"] for o in told["overflows"]] == ["MatMulV2", "MatMulV2", "Mul"]
    line = next(line for line in stderr.splitlines() if "overflowed" in line)
    print(line)
    assert "W core/device.cpp" in line and f"overflowed in step {LARGE}: output" in line and "64 infinities" in line
