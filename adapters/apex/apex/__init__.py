# SPDX-License-Identifier: Apache-2.0
"""Apex for scripts that train on the NPU: mixed precision, fused optimizers, and what stands around them."""

from .unbuilt import refuse

__getattr__ = refuse(
    __name__,
    {
        "RNN": "use torch.nn.LSTM, GRU or RNN",
        "mlp": "use torch.nn.Sequential of Linear and ReLU",
        "pyprof": "use torch_npu.profiler",
        "reparameterization": "use torch.nn.utils.parametrizations.weight_norm",
        "transformer": "use a library for large models on the NPU, as MindSpeed",
        "fused_dense": "use torch.nn.Linear",
        "dump": "use anynpu's dumps (anynpu precision)",
    },
    parts=("amp", "contrib", "fp16_utils", "multi_tensor_apply", "normalization", "optimizers", "parallel"),
)
