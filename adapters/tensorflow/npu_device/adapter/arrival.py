# SPDX-License-Identifier: Apache-2.0
"""What is to happen once the program imports TensorFlow: the packages themselves are imported without it."""

import importlib.abc
import importlib.util
import sys


class _Arrival(importlib.abc.MetaPathFinder):
    """Finds TensorFlow as the other finders do, and calls `function` when it is loaded."""

    def __init__(self, function):
        self._function = function

    def find_spec(self, name, path=None, target=None):
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def loaded(module):
                load(module)
                self._function()

            spec.loader.exec_module = loaded
        return spec


def then(function):
    """Calls `function` now where the program has TensorFlow, else right after its import."""
    if "tensorflow" in sys.modules:
        function()
    else:
        sys.meta_path.insert(0, _Arrival(function))
