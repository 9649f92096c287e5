# SPDX-License-Identifier: Apache-2.0
"""module_db: each module's own samples in training and in evaluation, forward and backward, with its buffers."""

import copy
from functools import partial

import torch
from comparison import npu, outcome, tensors, wider
from torch.testing._internal.common_modules import module_db

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64]
RANDOM = {"nn.FractionalMaxPool2d", "nn.FractionalMaxPool3d"}


def without_chance(module):
    for part in module.modules():
        if isinstance(part, torch.nn.modules.dropout._DropoutNd):
            part.p = 0.0
        elif isinstance(part, (torch.nn.MultiheadAttention, torch.nn.RNNBase)):
            part.dropout = 0.0
    return module


def built(info, made, dtype, training):
    torch.manual_seed(0)  # the same parameters in training and in evaluation
    module = info.module_cls(*made.constructor_input.args, **made.constructor_input.kwargs)
    module = without_chance(module).to(dtype).train(training)
    if info.is_lazy:
        with torch.no_grad():  # it has no parameters before its first input
            module(*made.forward_input.args, **made.forward_input.kwargs)
    return module


def moved(module, dtype, place):
    module = copy.deepcopy(module)
    if place is npu:
        return module.to("npu")
    return module.to(wider(torch.empty(0, dtype=dtype)).dtype) if place is wider else module


def run_once(module, made, dtype, place):
    module = moved(module, dtype, place)
    args, kwargs = place(list(made.forward_input.args)), place(made.forward_input.kwargs)
    out = module(*args, **kwargs)
    if isinstance(module, (torch.nn.MaxPool1d, torch.nn.MaxPool2d)) and isinstance(out, tuple):
        out = out[0]  # the positions are a mask of torch-npu's own
    leaves = [t for t in [*tensors([args, kwargs]), *module.parameters()] if t.requires_grad]
    return outcome(out, leaves, True) + [b.detach() for b in module.buffers()]


def run(both, dtype, place):
    return [t for module, made in both for t in run_once(module, made, dtype, place)]


def inputs(info, dtype, training):
    torch.manual_seed(0)
    return info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)


def samples(info, dtype):
    for each in zip(inputs(info, dtype, True), inputs(info, dtype, False), strict=False):
        both = [(made, training) for made, training in zip(each, (True, False), strict=True) if made.forward_input]
        yield partial(run, [(built(info, made, dtype, training), made) for made, training in both], dtype)


def cases(dtype):
    """{name: a generator of samples}; names are as in nn.Linear."""
    if dtype not in DTYPES:
        return {}
    return {info.name: partial(samples, info, dtype) for info in module_db if info.name not in RANDOM}
