# SPDX-License-Identifier: Apache-2.0
"""Names of Apex that this package does not have: asking for one says so, and what to use."""


def refuse(package, instead):
    """A module's `__getattr__`: `instead` tells for a name what does its work."""

    def __getattr__(name):
        text = f"{package}.{name} is not built in AnyNPU's apex"
        if name in instead:
            raise NotImplementedError(f"{text}: {instead[name]}")
        raise AttributeError(text)  # hasattr and import look for names that nobody promised

    return __getattr__
