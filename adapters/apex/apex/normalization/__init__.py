# SPDX-License-Identifier: Apache-2.0
"""Layer norm under Apex's name: torch's, which is one operator of the NPU."""

import torch

from apex.unbuilt import refuse


class FusedLayerNorm(torch.nn.LayerNorm):
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True):
        super().__init__(normalized_shape, eps=eps, elementwise_affine=elementwise_affine)


__all__ = ["FusedLayerNorm"]
_OTHERS = ("FusedRMSNorm", "MixedFusedLayerNorm", "MixedFusedRMSNorm")
__getattr__ = refuse(__name__, dict.fromkeys(_OTHERS, "use torch.nn.LayerNorm, or torch.nn.RMSNorm"))
