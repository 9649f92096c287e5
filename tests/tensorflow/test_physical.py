# SPDX-License-Identifier: Apache-2.0
"""The NPUs in tf.config, as scripts look for GPUs and prepare them."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import npu_device
import pytest
import tensorflow as tf
from npu_device.adapter import c_interface, library
from npu_device.patch import physical

BEFORE_OPENING = """
import tensorflow as tf
before = [tf.config.list_physical_devices(kind) for kind in ("CPU", "GPU", "TPU", "XLA_CPU")]
assert not tf.config.list_physical_devices("NPU")
import npu_device
npus = tf.config.list_physical_devices("NPU")
assert [tf.config.list_physical_devices(kind) for kind in ("CPU", "GPU", "TPU", "XLA_CPU")] == before
for npu in npus:
    tf.config.experimental.set_memory_growth(npu, True)
tf.config.set_visible_devices(npus, "NPU")
tf.config.set_visible_devices(tf.config.list_physical_devices())
tf.config.set_visible_devices([], "GPU")
handle = npu_device.open().as_default()
print(len(npus), npus[0], tf.ones([1]).device)
"""


def test_a_script_finds_and_prepares_them_before_opening():
    packages = str(Path(npu_device.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", BEFORE_OPENING], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": packages, "ANYNPU_DEVICES": "3", "TF_CPP_MIN_LOG_LEVEL": "2"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    listed = "PhysicalDevice(name='/physical_device:NPU:0', device_type='NPU')"
    assert done.stdout.strip() == f"3 {listed} /job:localhost/replica:0/task:0/device:NPU:0"


def test_all_devices_are_those_of_tensorflow_and_the_npus():
    npus = tf.config.list_physical_devices("NPU")
    assert [device.name for device in npus] == [f"/physical_device:NPU:{i}" for i in range(len(npus))] and npus
    assert tf.config.list_physical_devices() == tf.config.list_physical_devices("CPU") + npus
    assert tf.config.get_visible_devices("NPU") == npus == tf.config.experimental.list_physical_devices("NPU")


def test_details_and_growth():
    npu = tf.config.list_physical_devices("NPU")[0]
    assert tf.config.experimental.get_device_details(npu) == {
        "device_name": os.environ.get("ANYNPU_SOC", "Ascend910B1")
    }
    assert tf.config.experimental.get_memory_growth(npu) is True
    assert tf.config.get_logical_device_configuration(npu) is None


def test_what_an_npu_cannot_is_refused_with_what_to_do():
    npus = tf.config.list_physical_devices("NPU")
    for devices in ([], npus[1:], npus[0]):
        with pytest.raises(ValueError, match=r"NPUs cannot be hidden from TensorFlow; npu\.open\(1\)"):
            tf.config.set_visible_devices(devices, "NPU")
    with pytest.raises(ValueError, match="is no GPU"):
        tf.config.set_visible_devices(npus, "GPU")
    with pytest.raises(ValueError, match="taken as it is used"):
        tf.config.experimental.set_memory_growth(npus[0], False)
    with pytest.raises(ValueError, match="one logical device; ANYNPU_DEVICES"):
        tf.config.set_logical_device_configuration(npus[0], [tf.config.LogicalDeviceConfiguration(1024)])
    stranger = tf.config.PhysicalDevice("/physical_device:NPU:99", "NPU")
    with pytest.raises(ValueError, match="must be one obtained from"):
        tf.config.experimental.get_device_details(stranger)


def test_a_setting_without_sense_is_told(monkeypatch):
    def configured(visit, _):
        visit(ctypes.pointer(c_interface.Configuration(0, b"", 0, 0, 0, b"ANYNPU_SOC is no SoC")), None)

    physical._configured.cache_clear()
    monkeypatch.setattr(library, "load", lambda: type("Library", (), {"anynpu_configured": staticmethod(configured)}))
    with pytest.raises(RuntimeError, match="ANYNPU_SOC is no SoC"):
        tf.config.list_physical_devices("NPU")
    assert tf.config.list_physical_devices("GPU") == []


@pytest.fixture(autouse=True)
def fresh():
    yield
    physical._configured.cache_clear()
