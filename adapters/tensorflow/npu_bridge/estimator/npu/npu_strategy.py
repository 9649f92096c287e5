# SPDX-License-Identifier: Apache-2.0
"""The strategy that migrated scripts have in place of MirroredStrategy."""

import tensorflow as tf

__all__ = ["NPUStrategy"]


class NPUStrategy(tf.compat.v1.distribute.OneDeviceStrategy):
    """One replica; its session runs on the NPU, wherever `device` says that its variables are."""

    def __init__(self, device="/cpu:0"):
        super().__init__(device)
