# SPDX-License-Identifier: Apache-2.0
"""Importing npu_device does not import TensorFlow; whichever comes first, they know each other."""

import fresh


def test_npu_device_comes_without_tensorflow(tmp_path):
    fresh.run(
        tmp_path,
        """
import npu_device
npu_device.global_options().precision_mode = "must_keep_origin_dtype"
raised(AttributeError, "has no attribute 'speed'", lambda: npu_device.speed)
raised(AttributeError, "has no attribute 'speed'", lambda: npu_device.npu_device.speed)
for module in (npu_device, npu_device.npu_device):
    assert set(module.__all__) <= set(dir(module)), module
assert "tensorflow" not in sys.modules and "numpy" not in sys.modules

import tensorflow as tf
assert tf.config.list_physical_devices("NPU"), "known as soon as TensorFlow is there"
names = {}
exec("from npu_device.npu_device import *", names)
assert names["open"] is npu_device.open is npu_device.npu_device.open
assert npu_device.NpuDeviceHandle is type(npu_device.open()) and npu_device.keep_dtype_scope.__name__ in names
""",
    )


def test_our_library_brings_tensorflow(tmp_path):
    fresh.run(
        tmp_path,
        """
import npu_device
assert "tensorflow" not in sys.modules
npu_device.set_device_sat_mode(0)
assert not npu_device.is_inf_nan_enabled() and "tensorflow" in sys.modules
""",
    )
