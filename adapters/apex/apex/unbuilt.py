# SPDX-License-Identifier: Apache-2.0
"""Names of Apex that this package does not have: asking for one says so, and what to use."""

import importlib
import sys


class NotBuilt(NotImplementedError, AttributeError):
    """Libraries find out with hasattr or `except ImportError` whether Apex has a name: to them it is just not there."""


def refuse(package, instead, parts=()):
    """A module's `__getattr__`: `instead` tells for a name what does its work; `parts` are imported when asked for."""

    def __getattr__(name):
        if name in parts:
            return importlib.import_module(f"{package}.{name}")
        text = f"{package}.{name} is not built in AnyNPU's apex"
        if name not in instead:
            raise AttributeError(text)  # hasattr and import look for names that nobody promised
        # `from package import name` asks with hasattr, and would put a text of its own in the place of ours.
        importing = sys._getframe(1).f_code.co_name == "_handle_fromlist"
        raise (ImportError if importing else NotBuilt)(f"{text}: {instead[name]}")

    return __getattr__
