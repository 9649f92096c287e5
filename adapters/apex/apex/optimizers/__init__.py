# SPDX-License-Identifier: Apache-2.0
"""Optimizers for the NPU, for use with amp."""

from apex.unbuilt import refuse

from .bert import NpuFusedBertAdam
from .lamb import Lamb, NpuFusedLamb
from .projected import NpuFusedAdamP
from .rmsprop_tf import NpuFusedRMSpropTF
from .stock import NpuFusedAdadelta, NpuFusedAdam, NpuFusedAdamW, NpuFusedRMSprop, NpuFusedSGD

__all__ = ["Lamb", "NpuFusedAdadelta", "NpuFusedAdam", "NpuFusedAdamP", "NpuFusedAdamW", "NpuFusedBertAdam"]
__all__ += ["NpuFusedLamb", "NpuFusedRMSprop", "NpuFusedRMSpropTF", "NpuFusedSGD"]
__getattr__ = refuse(
    __name__,
    {
        "FusedSGD": "it is CUDA code; use NpuFusedSGD",
        "FusedAdam": "it is CUDA code; use NpuFusedAdamW (adam_w_mode, its default) or NpuFusedAdam",
        "FusedLAMB": "it is CUDA code; use NpuFusedLamb, which has no bias correction",
        "FusedMixedPrecisionLamb": "it is CUDA code; use NpuFusedLamb",
        "FusedNovoGrad": "it is CUDA code without a counterpart here; use NpuFusedAdamW",
        "FusedAdagrad": "it is CUDA code; use torch.optim.Adagrad",
        "NpuFusedAdagrad": "use torch.optim.Adagrad, which amp takes",
        "NpuFusedAdamax": "use torch.optim.Adamax, which amp takes",
        "NpuFusedNovoGrad": "it has no specified formula; use NpuFusedAdamW",
    },
)
