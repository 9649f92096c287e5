# SPDX-License-Identifier: Apache-2.0
"""What a training script of TensorFlow 2 imports: import precision_tool.tf_config as npu_tf_config. Importing it seeds
all random numbers, so that two runs can be compared."""

import random

import numpy as np
import tensorflow as tf

from .lib import adapter
from .lib.config import config as cfg

SESSIONS = ("sess_dump", "estimator_dump", "session_dump_config", "estimator_dump_config", "update_custom_op")


def seed_everything(seed=cfg.DUMP_SEED):
    """Seeds Python, NumPy and TensorFlow. TF_DETERMINISTIC_OPS stays: it would change the graphs."""
    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)


def npu_device_dump_config(npu_device, action=None):
    """Before npu_device.open(). `action`: dump, overflow, fusion_off, fusion_switch, several joined by |; None: what
    precision_tool/cli.py npu_dump and npu_overflow ask for."""
    return adapter.configure(npu_device, action)


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
    if name in SESSIONS:
        raise AttributeError(f"{name} is for sessions and estimators of TensorFlow 1, not served yet; "
                             "in TensorFlow 2 it is npu_device_dump_config(npu_device, action)")  # fmt: skip
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


seed_everything()
