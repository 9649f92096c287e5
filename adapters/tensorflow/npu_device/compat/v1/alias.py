# SPDX-License-Identifier: Apache-2.0
"""The modules of npu_bridge by the names that the vendor's adapter for TensorFlow 2 gives them:
npu_device.compat.v1.estimator.npu.npu_config is npu_bridge.estimator.npu.npu_config, the same module."""

import importlib.abc
import importlib.util
import sys

THEIRS, OURS = "npu_device.compat.v1.", "npu_bridge."
OWN = ("alias", "npu_init")  # modules of npu_device.compat.v1 itself


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        short = name.removeprefix(THEIRS)
        if short == name or short in OWN or importlib.util.find_spec(OURS + short) is None:
            return None
        return importlib.util.spec_from_loader(name, self)

    def create_module(self, spec):
        module = importlib.import_module(OURS + spec.name.removeprefix(THEIRS))
        self._spec = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self._spec  # the machinery has put that of the alias there


def install():
    """Once, when npu_device.compat.v1 is imported."""
    if not any(isinstance(finder, _Alias) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Alias())
