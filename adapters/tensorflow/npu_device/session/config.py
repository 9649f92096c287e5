# SPDX-License-Identifier: Apache-2.0
"""What a session asks for in its ConfigProto: a custom optimizer called NpuOptimizer with a parameter_map."""

import os
from dataclasses import dataclass

from npu_device.setting import session, telling

OPTIMIZER = "NpuOptimizer"


@dataclass(frozen=True)
class SessionOptions:
    """What of it concerns how the session itself runs; the rest is in npu.global_options()."""

    device_id: int | None = None  # None where use_off_line is False: no device is opened
    use_off_line: bool = True
    mix_compile_mode: bool = False
    iterations_per_loop: int = 1


def find(config):
    """NpuOptimizer's message in a ConfigProto, or None."""
    found = config.graph_options.rewrite_options.custom_optimizers if config is not None else ()
    return next((one for one in found if one.name == OPTIMIZER), None)


def _value(key, value):
    kind = value.WhichOneof("value")
    if kind not in ("b", "i", "f", "s"):
        raise TypeError(f"NpuOptimizer's key {key} has no value; write parameter_map[{key!r}].b, .i, .f or .s = …")
    value = getattr(value, kind)
    return value.decode() if isinstance(value, bytes) else value


def parameters(config):
    """NpuOptimizer's parameter_map as a dictionary; empty where the session does not name it."""
    message = find(config)
    return {key: _value(key, value) for key, value in message.parameter_map.items()} if message is not None else {}


def apply(config=None):
    """What the session with this ConfigProto asks for. The first one sets the options of the process and opens the
    device, unless it stays on the CPU. TypeError and ValueError for values that a key does not take or that exclude
    each other, and whatever npu.open() raises."""
    asked = parameters(config)
    known = session.checked(asked)
    iterations = known.get("iterations_per_loop", 1)
    if iterations < 1:
        raise ValueError(f"NpuOptimizer's key iterations_per_loop is {iterations}; it is 1 or more")
    if not known.get("use_off_line", True):
        telling.once("use_off_line", "a session with use_off_line=False stays on the CPU; leave it out for the NPU")
        return SessionOptions(use_off_line=False)
    _tell_of_control_flow()
    return SessionOptions(_opened(known), True, known.get("mix_compile_mode", False), iterations)


def _opened(known):
    from npu_device import device  # it needs TensorFlow, which options can be read without

    number = device.number(_device_id(known))
    session.put_in_force(known, device.is_open, lambda: device.open(number))
    return number


def _device_id(known):
    """The device of session_device_id, which comes before the environment's."""
    asked, environment = known.get("session_device_id"), os.environ.get("ASCEND_DEVICE_ID", "").strip()
    if asked is None or asked == -1:
        return None
    if isinstance(asked, bool) or not isinstance(asked, int) or asked < 0:
        raise ValueError(f"NpuOptimizer's key session_device_id is {asked!r}; it is the number of a device, such as 0")
    if environment and environment != str(asked):
        telling.once("device", f"session_device_id={asked} comes before ASCEND_DEVICE_ID={environment}")
    return asked


def _tell_of_control_flow():
    from tensorflow.python.ops import control_flow_util

    if forces_control_flow() and not control_flow_util.ENABLE_CONTROL_FLOW_V2:
        telling.once("control", "ENABLE_FORCE_V2_CONTROL is set, and the graph has control flow of TensorFlow 1: call "
                              "npu_device.compat.enable_v1() before the graph is built, or, after "
                              "disable_v2_behavior(), tf.compat.v1.enable_control_flow_v2()")  # fmt: skip


def forces_control_flow():
    """Whether ENABLE_FORCE_V2_CONTROL asks for control flow in the form of TensorFlow 2."""
    return os.environ.get("ENABLE_FORCE_V2_CONTROL", "0").strip().lower() not in ("", "0", "false")
