# SPDX-License-Identifier: Apache-2.0
"""Strategies of TensorFlow where an NPU is the default device. The vendor's guide (6.8) has scripts ask for
OneDeviceStrategy on the CPU, and trains them on the NPU. What TensorFlow puts on the host for lack of a GPU goes to the
NPU; several NPUs in one process are refused; any other strategy says once that it keeps its variables on the host."""

from tensorflow.python.distribute import device_util, distribute_lib, mirrored_strategy, one_device_strategy
from tensorflow.python.eager import context
from tensorflow.python.framework import ops
from tensorflow.python.util import tf_export

from npu_device.adapter import library
from npu_device.patch import once
from npu_device.setting import cluster, telling


def _default():
    """The default device of this thread if it is an NPU, else "". Inside `with tf.device("CPU")` it is none, and a
    session (session.py) has none."""
    name = context.context().device_name or ""
    return name if ":NPU:" in name and ops.executing_eagerly_outside_functions() else ""


def _is_missing(device):
    """Whether `device` is a GPU that this machine does not have, or an NPU that this process has not opened: a script
    says /NPU:0 in each of several processes."""
    if ":NPU:" in device:
        return not context.is_custom_device(device)
    return ":GPU:" in device and not context.context().list_logical_devices("GPU")


def place_on_the_default_npu():
    """From now on strategies made where an NPU is the default device are placed as this module says."""
    once.replace(one_device_strategy.OneDeviceExtended, "__init__", _placing(_one_device))
    once.replace(mirrored_strategy.MirroredExtended, "__init__", _placing(_mirrored))
    once.replace(distribute_lib.StrategyBase, "__init__", _placing(_any))


def _placing(placed):
    return lambda build: lambda self, *arguments, **named: placed(self, build, *arguments, **named)


def _one_device(self, build, container_strategy, device):
    """On the CPU, or on a device that is not there: on the default NPU."""
    default, wanted = _default(), device_util.resolve(device)
    if default and (":CPU:" in wanted or _is_missing(wanted)):
        library.log(f"OneDeviceStrategy on {device} trains on {default}, the default device")
        device = default
    build(self, container_strategy, device)


def _alone_of_several():
    """What is to be told where other processes train, too."""
    if cluster.size() == 1:
        return ""
    return (
        f", and gradients are not averaged over the {cluster.size()} processes; anynpu migrate -d tf_strategy, or "
        "npu.distribute.npu_distributed_keras_optimizer_wrapper around the optimizer, averages them"
    )


def _mirrored(self, build, container_strategy, devices=None, cross_device_ops=None):
    """Without devices, or on one that is not there: one replica on the default NPU."""
    wanted = [device_util.resolve(device) for device in devices or ()]
    default = _default()
    if len([one for one in wanted if ":NPU:" in one or (default and _is_missing(one))]) > 1:
        raise NotImplementedError(
            f"MirroredStrategy on {', '.join(devices)}: one process trains on one NPU; training on several is not "
            "built yet. tf.distribute.MirroredStrategy(['/NPU:0']) with the same global batch trains the same model"
        )
    if default and (not wanted or all(map(_is_missing, wanted))):
        telling.once(
            "MirroredStrategy",
            f"MirroredStrategy has one replica, on {default}: one process trains on one NPU" + _alone_of_several(),
        )
        devices = [default]
    build(self, container_strategy, devices, cross_device_ops)


def _name(kind):
    """As programs write it."""
    return (tf_export.get_canonical_name_for_symbol(kind) or kind.__name__).split(".")[-1]


def _any(self, build, extended):
    build(self, extended)
    name, default = _name(type(self)), _default()
    if not default or name.startswith("_"):  # TensorFlow's own, for programs that make none
        return
    devices = extended.worker_devices
    if not any(":NPU:" in device for device in devices):
        npu = "/NPU:" + default.rsplit(":", 1)[1]
        telling.once(
            name,
            f"{name} keeps its variables on {', '.join(devices)} and trains there, though {default} is the default "
            f"device; tf.distribute.OneDeviceStrategy('{npu}') trains on the NPU",
        )
