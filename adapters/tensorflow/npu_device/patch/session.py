# SPDX-License-Identifier: Apache-2.0
"""Sessions of TensorFlow 1 where nobody has called npu_device.session.enable(). They place operators by themselves and
know no custom device, so they compute on the CPU; that is said, once, and so is what `with tf.device("/NPU:0")` means
in their graphs."""

import functools

import tensorflow as tf
from tensorflow.python.client import session

from npu_device.setting import telling

HINT = (
    "; a session has no NPU: leave tf.device('/NPU:…') out of the graph, which then runs on the CPU, or call "
    "npu_device.compat.enable_v1() before anything of TensorFlow is used, which brings sessions to the NPU"
)
on_the_npu = False  # whether npu_device.session takes sessions to the NPU


def tell_of_the_cpu():
    """From now on the first session is told of, and errors about NPUs in a graph say what to do."""
    build, call = session.BaseSession.__init__, session.BaseSession._do_call
    if hasattr(build, "_npu_device"):
        return

    @functools.wraps(build)
    def told(self, *arguments, **named):
        if not on_the_npu:
            telling.once(
                "a session on the CPU",
                "a session of TensorFlow 1 (tf.compat.v1.Session, tf.estimator, graphs of disable_eager_execution) "
                "computes on the CPU, whatever the default device is: tf.device('/NPU:0') in its graph has no effect, "
                "or is refused without allow_soft_placement, and options of NpuOptimizer have none. "
                "npu_device.compat.enable_v1() brings sessions to the NPU. What runs eagerly or in a tf.function runs "
                "on the NPU",
            )
        build(self, *arguments, **named)

    @functools.wraps(call)
    def hinted(self, function, *arguments):
        try:
            return call(self, function, *arguments)
        except tf.errors.InvalidArgumentError as error:
            if "device:NPU" not in error.message or HINT in error.message:
                raise
            raise type(error)(error.node_def, error.op, error.message + HINT, error.experimental_payloads) from None

    told._npu_device = True
    session.BaseSession.__init__, session.BaseSession._do_call = told, hinted
