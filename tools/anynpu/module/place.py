# SPDX-License-Identifier: Apache-2.0
"""What modules are called: as the script reaches them, model.layers.3. Found once for a module at a place."""

import sys
import weakref

NOT_OF_THE_SCRIPT = ("torch", "torch_npu", "threading", "contextlib")
OURS = (__name__, "anynpu.module.hooks")
MOST_LOOKS = 3  # into a module for what it calls: it may have got new children, or calls what it does not hold


class Place:
    """A module where it is called from. Keeps nothing alive."""

    __slots__ = ("enter", "inside", "looks", "module", "names", "path", "text")

    def __init__(self, module, path):
        self.module = weakref.ref(module)
        self.path, self.text = path, path.encode()
        self.inside, self.names, self.looks = {}, {}, 0  # by ids
        self.enter = None  # what autograd calls: hooks.py

    def of(self, module):
        """The place of a module that this one calls."""
        known = self.inside.get(id(module))
        if known is None or known.module() is not module:
            known = self.inside[id(module)] = Place(module, f"{self.path}.{self.name_of(module)}")
        return known

    def name_of(self, module):
        if id(module) not in self.names and self.looks < MOST_LOOKS:
            self.looks += 1
            self.names = names_below(self.module())
        return self.names.get(id(module)) or type(module).__name__


class Outside(Place):
    """No module: what is called from here is called by the script itself."""

    def __init__(self):
        self.module = lambda: None
        self.path, self.text, self.inside, self.enter = "", b"", {}, None
        self.roots = {}

    def of(self, module):
        known = self.inside.get(id(module))
        if known is None or known.module() is not module:
            known = self.inside[id(module)] = Place(module, self.distinct(variable_of(module), module))
        return known

    def distinct(self, name, module):
        """`name`, with a number where another one that lives has it."""
        number, free = 1, name
        while (holder := self.roots.get(free, lambda: None)()) is not None and holder is not module:
            number += 1
            free = f"{name} ({number})"
        self.roots[free] = weakref.ref(module)
        return free


class Step(Place):
    """A step of an optimizer. What its closure calls, the script calls."""

    __slots__ = ("outside",)

    def __init__(self, optimizer, outside):
        super().__init__(optimizer, outside.distinct(f"{type(optimizer).__name__}.step", optimizer))
        self.outside = outside

    def of(self, module):
        return self.outside.of(module)


def names_below(owner):
    """Of the modules that it holds, by their ids. What a module says of itself may be wrong, and is no error here."""
    try:
        return {id(one): name for name, one in owner.named_modules() if name}
    except Exception:
        return {}


def variable_of(module):
    """What the script calls it; the name of its class where that is not to be seen."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name not in OURS and name.split(".")[0] not in NOT_OF_THE_SCRIPT:
            found = name_in(frame.f_locals, module) or name_in(frame.f_globals, module)
            if found:
                return found
        frame = frame.f_back
    return type(module).__name__


def name_in(variables, module):
    """A variable that is the module, or the attribute of `self` that is."""
    held = getattr(variables.get("self"), "__dict__", {})
    every = [*variables.items(), *(held.items() if isinstance(held, dict) else ())]
    return next((name for name, value in every if value is module and name != "self"), None)
