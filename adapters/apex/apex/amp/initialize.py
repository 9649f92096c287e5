# SPDX-License-Identifier: Apache-2.0
"""amp.initialize: the one call that a script adds."""

import torch

from ..parallel import LARC
from ..parallel import DistributedDataParallel as ApexDdp
from . import network, optimizer, patch, reduction, scaler
from .options import Options, described, resolved
from .state import STATE, say

_WRAPPERS = (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel, ApexDdp)


def _listed(name, value, kinds, expected):
    found = list(value) if isinstance(value, (list, tuple)) else [value]
    for item in found:
        if not isinstance(item, kinds):
            raise TypeError(
                f"amp.initialize: {name} holds a {type(item).__name__}; it takes {expected} or a list of them"
            )
    return found


def _check_model(model):
    if isinstance(model, _WRAPPERS):
        raise RuntimeError(f"amp.initialize: wrap the model in {type(model).__name__} after initialize, not before")
    for kind, tensors in (("parameter", model.named_parameters()), ("buffer", model.named_buffers())):
        for name, tensor in tensors:
            if tensor.is_floating_point() and (tensor.dtype != torch.float32 or tensor.device.type != "npu"):
                found = f"{tensor.dtype} on {tensor.device}"
                text = f"amp.initialize: the {kind} {name} is {found}; models come in as float32 on the npu: "
                raise RuntimeError(text + "leave .half() to amp, and call model.npu() before")


def _change_model(model, options, masters):
    dtype = options.cast_model_type
    if options.opt_level == "O1":
        dtype = None
    if dtype is not None:
        network.convert(model, dtype, options.keep_batchnorm_fp32)
        network.cast_inputs(model, dtype)
        network.keep_checkpoints_wide(model, masters)
    outputs = options.cast_model_outputs or (torch.float32 if dtype is not None else None)
    if outputs is not None:
        network.cast_outputs(model, outputs)


def _prepare(models, optimizers, options):
    masters = {}
    for model in models:
        if options.combine_ddp:
            reduction.broadcast(model)
        _change_model(model, options, masters)
    for one in optimizers:
        optimizer.process(one, options)
        masters.update(one._amp_stash.pairs)
    if options.combine_grad:
        for model in models:
            optimizer.process_zero_grad(model, optimizers)


def initialize(
    models,
    optimizers=None,
    enabled=True,
    opt_level="O1",
    cast_model_type=None,
    patch_torch_functions=None,
    keep_batchnorm_fp32=None,
    master_weights=None,
    loss_scale=None,
    cast_model_outputs=None,
    num_losses=1,
    verbosity=1,
    dynamic_init_scale=2.0**16,
    scale_growth_factor=2.0,
    scale_backoff_factor=0.5,
    scale_window=2000,
    min_loss_scale=None,
    max_loss_scale=2.0**24,
    combine_grad=None,
    combine_ddp=None,
    ddp_replica_count=4,
    user_cast_preferred=None,
    check_combined_tensors=None,
):
    """The models and optimizers, changed in place for mixed precision; each comes back as it came, single or a list.

    A keyword left None has the value of `opt_level`.
    """
    given = dict(locals())
    for name in ("models", "optimizers", "enabled", "opt_level", "verbosity"):
        del given[name]
    if not enabled:
        STATE.options, STATE.casting = Options(enabled=False), False
        return models if optimizers is None else (models, optimizers)
    if not torch.backends.cudnn.enabled:
        raise RuntimeError("amp.initialize: torch.backends.cudnn.enabled must be True")
    options = resolved(opt_level, **given)
    of_models = _listed("models", models, torch.nn.Module, "a torch.nn.Module")
    kinds = (torch.optim.Optimizer, LARC)
    of_optimizers = [] if optimizers is None else _listed("optimizers", optimizers, kinds, "a torch.optim.Optimizer")
    for model in of_models:
        _check_model(model)
    if options.combine_ddp:
        reduction.check_ranks()
    STATE.verbosity = verbosity
    _prepare(of_models, of_optimizers, options)
    STATE.options, STATE.scalers = options, scaler.made(options)
    STATE.cached.clear()
    STATE.casting = options.patch_torch_functions
    if STATE.casting:
        patch.apply(options.user_cast_preferred)
    say(f"amp: initialized with\n{described(options)}")
    return models if optimizers is None else (models, optimizers)
