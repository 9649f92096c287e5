# SPDX-License-Identifier: Apache-2.0
"""What O2 and O3 do to a model: its weights' type, the type of what goes in and comes out, its checkpoints."""

import copy
from collections.abc import Mapping, MutableMapping

import torch
from torch.nn.utils.rnn import PackedSequence

_BATCH_NORM = torch.nn.modules.batchnorm._BatchNorm


def cast_tensors(value, dtype):
    """Floating tensors of nested containers in `dtype`; all else as it is."""
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, PackedSequence):
        return value.to(dtype) if value.data.is_floating_point() else value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(cast_tensors(item, dtype) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(cast_tensors(item, dtype) for item in value)
    if isinstance(value, MutableMapping):
        result = copy.copy(value)
        for key, item in value.items():
            result[key] = cast_tensors(item, dtype)
        return result
    if isinstance(value, Mapping):
        return {key: cast_tensors(item, dtype) for key, item in value.items()}
    return value


def convert(model, dtype, keep_batchnorm_fp32):
    """Weights and buffers of all modules in `dtype`, affine batch norms aside if they are kept."""
    for module in model.modules():
        if keep_batchnorm_fp32 and isinstance(module, _BATCH_NORM) and module.affine:
            continue
        for tensor in [*module.parameters(recurse=False), *module.buffers(recurse=False)]:
            if tensor.is_floating_point():
                tensor.data = tensor.data.to(dtype)
                if tensor.grad is not None:
                    tensor.grad = None
        if isinstance(module, torch.nn.RNNBase):
            module.flatten_parameters()


def cast_inputs(model, dtype):
    def hook(module, args, kwargs):
        return cast_tensors(args, dtype), cast_tensors(kwargs, dtype)

    model.register_forward_pre_hook(hook, with_kwargs=True)


def cast_outputs(model, dtype):
    model.register_forward_hook(lambda module, args, output: cast_tensors(output, dtype))


def _named(module, prefix):
    return ((prefix + name, parameter) for name, parameter in module.named_parameters())


def keep_checkpoints_wide(model, masters):
    """Checkpoints hold float32, of the masters (`masters`: {weight: master}) where there are some, and fill them."""

    def saving(module, state, prefix, metadata):
        for name, parameter in _named(module, prefix):
            if name in state and parameter in masters:
                state[name] = masters[parameter].detach().clone()
        for name, value in state.items():
            if name.startswith(prefix) and isinstance(value, torch.Tensor) and value.dtype == torch.float16:
                state[name] = value.float()

    def loading(module, state, prefix, *_):
        for name, parameter in _named(module, prefix):
            if name in state and parameter in masters and masters[parameter].shape == state[name].shape:
                with torch.no_grad():
                    masters[parameter].copy_(state[name])

    model._register_state_dict_hook(saving)
    model.register_load_state_dict_pre_hook(loading)
