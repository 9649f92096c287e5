# SPDX-License-Identifier: Apache-2.0
"""What a training script of TensorFlow imports: import precision_tool.tf_config as npu_tf_config. Importing it seeds
all random numbers, so that two runs can be compared."""

import random
import sys

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import rewriter_config_pb2

from .lib import adapter
from .lib.config import config as cfg

OF_A_CPU = {
    "sess_dump": "tensorflow.python.debug.DumpingDebugWrapperSession(sess, FOLDER)",
    "estimator_dump": "tensorflow.python.debug.DumpingDebugHook(FOLDER)",
}


def seed_everything(seed=cfg.DUMP_SEED):
    """Seeds Python, NumPy and TensorFlow. TF_DETERMINISTIC_OPS stays: it would change the graphs."""
    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)


def npu_device_dump_config(npu_device, action=None):
    """Before npu_device.open(). `action`: dump, overflow, fusion_off, fusion_switch, several joined by |; None: what
    precision_tool/cli.py npu_dump and npu_overflow ask for."""
    return adapter.configure(npu_device, action)


def update_custom_op(custom_op, action=None):
    """The same for a session: into the NpuOptimizer of its configuration, which is returned."""
    adapter.configure_session(custom_op.parameter_map, action)
    return custom_op


def session_dump_config(session_config=None, action=None):
    """A ConfigProto for a session that does so: the one given, changed, or a new one."""
    found = tf.compat.v1.ConfigProto() if session_config is None else session_config
    rewriting = found.graph_options.rewrite_options
    ours = [one for one in rewriting.custom_optimizers if one.name == "NpuOptimizer"]
    update_custom_op(ours[0] if ours else rewriting.custom_optimizers.add(name="NpuOptimizer"), action)
    rewriting.remapping = rewriting.memory_optimization = rewriter_config_pb2.RewriterConfig.OFF
    return found


def estimator_dump_config(action=None):
    """A DumpConfig for NPURunConfig(dump_config=…), of the package that the script has imported. Of the actions only
    dump and overflow are its own."""
    module = sys.modules.get("npu_bridge.estimator.npu.npu_config")
    if module is None:
        raise ImportError("estimator_dump_config needs DumpConfig; write `from npu_bridge.npu_init import *` before it")
    asked = adapter.asked(action)
    return module.DumpConfig(**{name: value for name, value in asked.items() if name != "fusion_switch_file"})


class NpuPrintLossScaleCallBack(tf.keras.callbacks.Callback):
    """model.fit(…, callbacks=[NpuPrintLossScaleCallBack(optimizer)]): the loss scale with each step, and whether the
    step before was finite."""

    def __init__(self, optimizer, loss=None):
        super().__init__()
        self.optimizer, self.loss = optimizer, loss

    def on_train_batch_begin(self, batch, logs=None):
        scale, finite = float(self.optimizer.loss_scale), bool(self.optimizer.last_step_finite)
        print(f"PrecisionTool: Train steps {batch}, loss_scale={scale:.3f} / not_overflow_status={finite}", flush=True)


def __getattr__(name):
    if name in OF_A_CPU:
        raise AttributeError(f"{name} dumps a session on the CPU by TensorFlow's debugger; write {OF_A_CPU[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


seed_everything()
