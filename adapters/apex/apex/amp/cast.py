# SPDX-License-Identifier: Apache-2.0
"""Functions that cast their arguments while casts are on. Tensors of the NPU alone are cast."""

import functools
from contextlib import contextmanager

import torch

from .state import STATE

_WIDE = (torch.float32, torch.float64)


def _on_npu(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.device.type == "npu"


def _kept(weight):
    """The half copy of a weight, made once an iteration: its gradient then flows through one cast."""
    found = STATE.cached.get(id(weight))
    if found is None or found[1] != weight._version:
        found = STATE.cached[id(weight)] = (weight, weight._version, weight.half())
    return found[2]


def to_half(value):
    if not _on_npu(value) or value.dtype not in _WIDE:
        return value
    is_weight = value.requires_grad and value.is_leaf and torch.is_grad_enabled()
    return _kept(value) if is_weight else value.half()


def to_float(value):
    return value.float() if _on_npu(value) and value.dtype == torch.float16 else value


def each(cast, value):
    """`cast` on each tensor of nested lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        return cast(value)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(each(cast, item) for item in value)
    if type(value) is dict:
        return {key: each(cast, item) for key, item in value.items()}
    return value


def _is_off(kwargs):
    return not STATE.casting or kwargs.get("out") is not None  # a cast `out` would be written in vain


def casting(function, cast):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if _is_off(kwargs):
            return function(*args, **kwargs)
        return function(*each(cast, args), **each(cast, kwargs))

    return wrapper


def half(function):
    return casting(function, to_half)


def wide(function):
    return casting(function, to_float)


def _differ(values):
    found = {value.dtype for value in values if _on_npu(value)}
    return torch.float16 in found and torch.float32 in found


def promoting(function):
    """All arguments in float32 where half and float32 meet."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if _is_off(kwargs) or not _differ([*args, *kwargs.values()]):
            return function(*args, **kwargs)
        return function(*each(to_float, args), **each(to_float, kwargs))

    return wrapper


def promoting_sequence(function):
    @functools.wraps(function)
    def wrapper(tensors, *args, **kwargs):
        if not _is_off(kwargs) and _differ(tensors):
            tensors = each(to_float, list(tensors))
        return function(tensors, *args, **kwargs)

    return wrapper


def following(function):
    """An operation in place: what is written keeps its type."""

    @functools.wraps(function)
    def wrapper(own, *args, **kwargs):
        if _is_off(kwargs) or not _differ([own, *args, *kwargs.values()]):
            return function(own, *args, **kwargs)

        def follow(value):
            return value.to(own.dtype) if _on_npu(value) else value

        return function(own, *each(follow, args), **each(follow, kwargs))

    return wrapper


def _takes_half(args, kwargs):
    return any(_on_npu(value) and value.dtype == torch.float16 for value in [*args, *kwargs.values()])


def refusing(function, name):
    @functools.wraps(function)
    def wrapper(own, *args, **kwargs):
        if STATE.casting and _takes_half([own], {}):
            text = f"amp: {name} in place on a half tensor would lose precision: use the form that returns a new tensor"
            raise NotImplementedError(text)
        return function(own, *args, **kwargs)

    return wrapper


def banning(function, name):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if STATE.casting and _takes_half(args, kwargs):
            text = f"amp: {name} does not take half: leave out the sigmoid and use binary_cross_entropy_with_logits "
            cure = "(BCEWithLogitsLoss), or cast to float32 within amp.disable_casts()"
            raise NotImplementedError(text + cure)
        return function(*args, **kwargs)

    return wrapper


@contextmanager
def disable_casts():
    before, STATE.casting = STATE.casting, False
    try:
        yield
    finally:
        STATE.casting = before
