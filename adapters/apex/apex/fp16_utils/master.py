# SPDX-License-Identifier: Apache-2.0
"""Float32 masters of half weights, one by one or in one flat tensor."""

import torch
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

clip_grad_norm = torch.nn.utils.clip_grad_norm_


def prep_param_lists(model, flat_master=False):
    """(weights of the model that learn, their masters); `flat_master` puts the masters into one tensor."""
    weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not flat_master:
        return weights, [torch.nn.Parameter(weight.detach().clone().float()) for weight in weights]
    if len({weight.dtype for weight in weights}) > 1:
        raise RuntimeError(
            "prep_param_lists: flat_master takes weights of one type; batch norms in float32 are another"
        )
    master = torch.nn.Parameter(_flatten_dense_tensors([weight.detach() for weight in weights]).float())
    master.grad = torch.zeros_like(master)
    return weights, [master]


def model_grads_to_master_grads(model_params, master_params, flat_master=False):
    if flat_master:
        master_params[0].grad.copy_(_flatten_dense_tensors([parameter.grad for parameter in model_params]))
        return
    for weight, master in zip(model_params, master_params, strict=True):
        master.grad = None if weight.grad is None else weight.grad.detach().to(master.dtype, copy=True)


@torch.no_grad()
def master_params_to_model_params(model_params, master_params, flat_master=False):
    masters = _unflatten_dense_tensors(master_params[0], model_params) if flat_master else master_params
    for weight, master in zip(model_params, masters, strict=True):
        weight.copy_(master)


def to_python_float(value):
    return value.item() if hasattr(value, "item") else value[0]
