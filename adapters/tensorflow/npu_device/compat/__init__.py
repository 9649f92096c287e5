# SPDX-License-Identifier: Apache-2.0
"""npu_device.compat: scripts in the style of TensorFlow 1, by tf.compat.v1, on the NPU."""

import importlib

__all__ = ["enable_v1", "v1"]


def enable_v1():
    """From now on the process behaves as TensorFlow 1, and every session runs on the NPU. Call it before anything of
    TensorFlow is used. With ENABLE_FORCE_V2_CONTROL=1 loops and conditions are those of TensorFlow 2, and variables are
    resources, for shapes that change."""
    import tensorflow as tf

    from npu_device import session
    from npu_device.adapter import library
    from npu_device.session import config

    tf.compat.v1.disable_v2_behavior()
    library.load()  # it tells TensorFlow our operators
    if config.forces_control_flow():
        tf.compat.v1.enable_control_flow_v2()
        tf.compat.v1.enable_resource_variables()
    session.enable()
    _give_keras_sessions(tf)


def _give_keras_sessions(tf):
    """The vendor's guide asks tf.keras.backend for functions that only tf.compat.v1's has."""
    for name in ("get_session", "set_session"):
        if not hasattr(tf.keras.backend, name):
            setattr(tf.keras.backend, name, getattr(tf.compat.v1.keras.backend, name))


def __getattr__(name):
    if name == "v1":
        return importlib.import_module("npu_device.compat.v1")
    raise AttributeError(f"module 'npu_device.compat' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
