# SPDX-License-Identifier: Apache-2.0
"""Mixed precision by hand: half models, their float32 masters, and an optimizer that holds both."""

from .half_model import (
    BN_convert_float,
    FP16Model,
    convert_module,
    convert_network,
    network_to_half,
    tofp16,
)
from .half_optimizer import FP16_Optimizer
from .loss_scaler import DynamicLossScaler, LossScaler
from .master import (
    clip_grad_norm,
    master_params_to_model_params,
    model_grads_to_master_grads,
    prep_param_lists,
    to_python_float,
)

__all__ = ["BN_convert_float", "DynamicLossScaler", "FP16Model", "FP16_Optimizer", "LossScaler", "clip_grad_norm"]
__all__ += ["convert_module", "convert_network", "master_params_to_model_params", "model_grads_to_master_grads"]
__all__ += ["network_to_half", "prep_param_lists", "to_python_float", "tofp16"]
