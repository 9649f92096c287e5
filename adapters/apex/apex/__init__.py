# SPDX-License-Identifier: Apache-2.0
"""Apex for scripts that train on the NPU: mixed precision, fused optimizers, and what stands around them."""

import importlib

_PARTS = ("amp", "contrib", "fp16_utils", "multi_tensor_apply", "normalization", "optimizers", "parallel")
_UNBUILT = {
    "RNN": "use torch.nn.LSTM, GRU or RNN",
    "mlp": "use torch.nn.Sequential of Linear and ReLU",
    "pyprof": "use torch_npu.profiler",
    "reparameterization": "use torch.nn.utils.parametrizations.weight_norm",
    "transformer": "use a library for large models on the NPU, as MindSpeed",
    "fused_dense": "use torch.nn.Linear",
    "dump": "use anynpu's dumps (anynpu precision)",
}


def __getattr__(name):
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    from .unbuilt import refuse

    return refuse(__name__, _UNBUILT)(name)
