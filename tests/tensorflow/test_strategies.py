# SPDX-License-Identifier: Apache-2.0
"""Strategies of TensorFlow where an NPU is the default device."""

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import npu_device as npu
import numpy as np
import pytest
import tensorflow as tf
from both import on_cpu

ON_NPU = {
    "MirroredStrategy()": lambda: tf.distribute.MirroredStrategy(),
    "MirroredStrategy(GPU)": lambda: tf.distribute.MirroredStrategy(["/GPU:0"]),
    "MirroredStrategy(NPU)": lambda: tf.distribute.MirroredStrategy(["/NPU:0"]),
    "OneDeviceStrategy(GPU)": lambda: tf.distribute.OneDeviceStrategy("/GPU:0"),
    "OneDeviceStrategy(CPU)": lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
}
ON_HOST = {
    "MultiWorkerMirroredStrategy": lambda: tf.distribute.MultiWorkerMirroredStrategy(),
    "CentralStorageStrategy": lambda: tf.distribute.experimental.CentralStorageStrategy(),
}


pytestmark = pytest.mark.usefixtures("nothing_said")


def trained(scope):
    """The weights after two epochs of fit, and the model."""
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(32, 4)).astype("f"), generator.normal(size=(32, 1)).astype("f")
    tf.keras.utils.set_random_seed(3)
    with scope:
        model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu", input_shape=(4,)), tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.Adam(0.01), "mse")
    model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0)
    return model.get_weights(), model


@pytest.mark.filterwarnings("ignore:MirroredStrategy has one replica")
@pytest.mark.parametrize("name", ON_NPU)
def test_what_would_be_on_the_host_for_lack_of_a_gpu_trains_on_the_npu(name):
    expected, _ = on_cpu(lambda: trained(tf.device("CPU")))
    seen = {f["name"] for f in npu.open().report()}
    weights, model = trained(ON_NPU[name]().scope())
    assert all("NPU:0" in variable.device for variable in model.variables + model.optimizer.variables)
    (step,) = [f for f in npu.open().report() if "train_function" in f["name"] and f["name"] not in seen]
    assert not {"MatMul", "AssignVariableOp", "ResourceApplyAdam"} & {node["op"] for node in step["host"]}
    for ours, theirs in zip(weights, expected, strict=True):  # Adam divides by gradients near 0: a few units of 1e-2
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_one_replica_is_told_once():
    with pytest.warns(UserWarning, match=r"MirroredStrategy has one replica, on .*NPU:0: one process trains on one"):
        tf.distribute.MirroredStrategy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tf.distribute.MirroredStrategy()


@pytest.mark.promise("strategies for lack of a GPU train on the NPU; several NPUs in one process are refused at once")
@pytest.mark.parametrize("devices", [["/NPU:0", "/NPU:1"], ["/gpu:0", "/gpu:1", "/gpu:2"], ["/NPU:0", "/GPU:1"]])
def test_several_npus_in_one_process_are_refused_at_once(devices):
    start = time.monotonic()
    with pytest.raises(NotImplementedError, match=r"MirroredStrategy on .* several is not .*built yet.*\['/NPU:0'\]"):
        tf.distribute.MirroredStrategy(devices)
    assert time.monotonic() - start < 1


def test_two_opened_npus_are_refused_without_a_default_too():
    code = """
import npu_device as npu, tensorflow as tf
npu.open(0), npu.open(1)
try:
    tf.distribute.MirroredStrategy(["/NPU:0", "/NPU:1"])
except NotImplementedError as error:
    print("refused", error)
tf.compat.v1.Session(graph=tf.Graph())
"""
    env = {**os.environ, "PYTHONPATH": str(Path(npu.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("refused MirroredStrategy on /NPU:0, /NPU:1: one process trains on one NPU")
    assert "UserWarning: a session of TensorFlow 1" in done.stderr


@pytest.mark.parametrize("name", ON_HOST)
def test_strategies_of_the_host_say_so_once(name):
    with pytest.warns(UserWarning, match=rf"{name} keeps its variables on .*CPU:0 .*OneDeviceStrategy\('/NPU:0'\)"):
        scope = ON_HOST[name]().scope()
    with scope:
        assert "CPU" in tf.Variable(1.0).device
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ON_HOST[name]()


def test_inside_a_block_of_the_cpu_strategies_are_tensorflows():
    with tf.device("CPU"), warnings.catch_warnings():
        warnings.simplefilter("error")
        made = [
            tf.distribute.MirroredStrategy(),
            tf.distribute.OneDeviceStrategy("/cpu:0"),
            ON_HOST[list(ON_HOST)[1]](),
        ]
    for each in made:
        assert not [device for device in each.extended.worker_devices if "NPU" in device]
