# SPDX-License-Identifier: Apache-2.0
"""What begins as soon as a package has been imported."""

import importlib
from importlib.machinery import PathFinder


def spec(package, path, beginners):
    """The package's, whose import ends with begin() of each of these modules."""
    found = PathFinder.find_spec(package, path)
    if found is not None and found.loader is not None:
        execute = found.loader.exec_module

        def exec_module(module):
            execute(module)
            for name in beginners:
                importlib.import_module(name).begin()

        found.loader.exec_module = exec_module
    return found
