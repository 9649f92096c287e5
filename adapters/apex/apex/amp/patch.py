# SPDX-License-Identifier: Apache-2.0
"""Puts casting functions in the place of torch's, and of those that a script has registered."""

import torch

from . import cast, cast_list

_registered = []  # (place, name, wrap), before they are put in place
_replaced = {}  # (id of the place, name): (place, the function that stood there)


def _register(place, name, wrap):
    if not hasattr(place, name):
        raise ValueError(f"{place} has no function {name!r} to register")
    _registered.append((place, name, wrap))


def register_half_function(module, name):
    """`module.name` gets half arguments with O1; call it before `initialize`."""
    _register(module, name, cast.half)


def register_float_function(module, name):
    _register(module, name, cast.wide)


def register_promote_function(module, name):
    _register(module, name, cast.promoting)


half_function = cast.half
float_function = cast.wide
promote_function = cast.promoting


def _put(place, name, wrap):
    function = getattr(place, name)
    _replaced.setdefault((id(place), name), (place, function))
    setattr(place, name, wrap(function))


def _check_input(original):
    """RNN modules compare their input's type with the weights', before both are cast."""

    def check_input(self, input, batch_sizes):
        if cast.STATE.casting and self._flat_weights and isinstance(self._flat_weights[0], torch.Tensor):
            input = torch.empty(input.shape, dtype=self._flat_weights[0].dtype, device="meta")
        return original(self, input, batch_sizes)

    return check_input


def _lists(allow_banned):
    banned = cast.wide if allow_banned else None
    yield cast_list.HALF, lambda name: cast.half
    yield cast_list.FLOAT, lambda name: cast.wide
    yield cast_list.PROMOTE, lambda name: cast.promoting
    yield cast_list.SEQUENCE, lambda name: cast.promoting_sequence
    yield cast_list.FOLLOW, lambda name: cast.following
    yield cast_list.REFUSED, lambda name: lambda function: cast.refusing(function, name)
    yield cast_list.BANNED, lambda name: banned or (lambda function: cast.banning(function, name))


def apply(user_cast_preferred=False, allow_banned=False):
    """Once a process; what is registered later is put in place by the next call."""
    chosen = {(id(place), name) for place, name, _ in _registered} if user_cast_preferred else set()
    for place, name, wrap in _registered:
        _put(place, name, wrap)
    _registered.clear()
    if (id(torch.nn.RNNBase), "check_input") in _replaced:
        return
    for listed, wrapping in _lists(allow_banned):
        for place, name in cast_list.there(listed):
            if (id(place), name) not in chosen:
                _put(place, name, wrapping(name))
    _put(torch.nn.RNNBase, "check_input", _check_input)


def undo():
    """Puts torch's own functions back."""
    for (_, name), (place, function) in _replaced.items():
        setattr(place, name, function)
    _replaced.clear()
