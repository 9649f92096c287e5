# SPDX-License-Identifier: Apache-2.0
"""What `initialize` changes of an optimizer: its step, its zero_grad, its groups."""

import types

from .cast import disable_casts
from .stash import Stash
from .state import say


def _no_none(set_to_none):
    if set_to_none:
        text = "zero_grad(set_to_none=True) would take the gradients out of their combined buffer (combine_grad); "
        raise ValueError(text + "call zero_grad() or zero_grad(set_to_none=False)")
    return False


def _stepping(optimizer):
    original = optimizer.step

    def step(self, closure=None):
        if closure is not None:
            raise RuntimeError("amp does not support a closure in optimizer.step: each backward needs scale_loss")
        stash = optimizer._amp_stash
        if stash.skip:
            stash.skip = False
            optimizer._opt_called = True  # a scheduler that follows has no reason to warn
            for _, master in stash.pairs:
                master.grad = None
            say("amp: optimizer.step is skipped")
            return None
        with disable_casts():
            result = original()
        stash.masters_to_model()
        return result

    if hasattr(original, "_wrapped_by_lr_sched"):
        step._wrapped_by_lr_sched = True
    return step


def _zeroing(optimizer):
    def zero_grad(self, set_to_none=None):
        stash = optimizer._amp_stash
        combined = stash.options.combine_grad
        stash.zero_grad(_no_none(set_to_none) if combined else set_to_none is None or set_to_none)

    return zero_grad


def _adding(optimizer):
    original = optimizer.add_param_group

    def add_param_group(self, param_group):
        original(param_group)
        _take_group(optimizer, optimizer.param_groups[-1])

    return add_param_group


def _take_group(optimizer, group):
    """Masters in the place of half weights; the state of a weight follows to its master."""
    for index, parameter in enumerate(group["params"]):
        if not parameter.is_floating_point() or parameter.device.type != "npu":
            kind = f"{parameter.dtype} on {parameter.device}"
            raise TypeError(f"amp: the optimizer has a parameter of {kind}; it takes floating parameters on the npu")
        taken = group["params"][index] = optimizer._amp_stash.add(parameter)
        if taken is not parameter and parameter in optimizer.state:
            optimizer.state[taken] = optimizer.state.pop(parameter)


def process(optimizer, options):
    if hasattr(optimizer, "_amp_stash"):
        raise RuntimeError("amp.initialize: this optimizer has been through initialize already")
    optimizer._amp_stash = Stash(options)
    inner = getattr(optimizer, "optim", None)  # of LARC
    if inner is not None:
        inner._amp_stash = optimizer._amp_stash
    for group in optimizer.param_groups:
        _take_group(optimizer, group)
    for name, made in (("step", _stepping), ("zero_grad", _zeroing), ("add_param_group", _adding)):
        setattr(optimizer, name, types.MethodType(made(optimizer), optimizer))


def process_zero_grad(model, optimizers):
    """Module.zero_grad with combined gradients: the buffers stay."""

    def zero_grad(self, set_to_none=False):
        _no_none(set_to_none)
        own, owned = set(model.parameters()), set()
        for optimizer in optimizers:
            optimizer._amp_stash.zero_grad(False, own)
            owned.update(optimizer._amp_stash.weights())
        for parameter in own - owned:
            if parameter.grad is not None:
                parameter.grad.detach().zero_()

    model.zero_grad = types.MethodType(zero_grad, model)
