# SPDX-License-Identifier: Apache-2.0
"""npu_device.compat.v1: the names of npu_bridge, for scripts that import them from here, and SessionConfigBuilder."""

import importlib

from npu_device.compat.v1 import alias

alias.install()
MODULES = ("estimator", "hccl", "npu_init")
__all__ = ["SessionConfigBuilder", *MODULES]


class SessionConfigBuilder:
    """A ConfigProto with NpuOptimizer, made from `config` or anew: `session_config`, and its `parameter_map`."""

    def __init__(self, config=None):
        sessions = importlib.import_module("npu_bridge.estimator.npu.npu_session")
        self.session_config = sessions.npu_config_proto(config)
        self.parameter_map = sessions.npu_optimizer_of(self.session_config).parameter_map


def __getattr__(name):
    if name in MODULES:
        return importlib.import_module(f"npu_device.compat.v1.{name}")
    raise AttributeError(f"module 'npu_device.compat.v1' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
