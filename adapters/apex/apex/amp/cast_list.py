# SPDX-License-Identifier: Apache-2.0
"""Which functions O1 runs in which type (the lists of stock Apex; products that it leaves to CUDA builds are added)."""

import torch
import torch.nn.functional as F


def _names(text):
    return text.split()


_PRODUCTS = _names("addmm addmv addr matmul mm mv bmm addbmm baddbmm prelu")
_CONVOLUTIONS = _names("conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc")
_RECURRENT = _names("rnn_tanh rnn_relu gru lstm rnn_tanh_cell rnn_relu_cell gru_cell lstm_cell")
_WIDE = _names("""acos asin cosh erfinv exp expm1 log log10 log2 reciprocal rsqrt sinh tan pow
    cumprod cumsum dist norm prod std sum var renorm""")
_WIDE_LAYERS = _names("""interpolate grid_sample softplus softmin log_softmax softmax gelu layer_norm group_norm
    local_response_norm normalize cosine_similarity poisson_nll_loss cosine_embedding_loss cross_entropy
    hinge_embedding_loss kl_div l1_loss mse_loss margin_ranking_loss multilabel_margin_loss multilabel_soft_margin_loss
    multi_margin_loss nll_loss binary_cross_entropy_with_logits smooth_l1_loss soft_margin_loss triplet_margin_loss
    ctc_loss""")
_TERNARY = _names("addcdiv addcmul atan2 cross bilinear dot")
_BINARY = _names("add div mul eq equal ge gt le lt ne")
_OPERATORS = _names("""__add__ __sub__ __mul__ __div__ __truediv__ __radd__ __rsub__ __rmul__ __rdiv__ __rtruediv__
    __eq__ __ge__ __gt__ __le__ __lt__ __ne__""")

HALF = (
    [(torch, name) for name in _CONVOLUTIONS + _PRODUCTS]
    + [(F, name) for name in _CONVOLUTIONS + ["linear", "prelu", "scaled_dot_product_attention"]]
    + [(torch.Tensor, name) for name in ["__matmul__", "__rmatmul__", *_PRODUCTS]]
    + [(torch._VF, name) for name in _RECURRENT]
)
FLOAT = (
    [(torch, name) for name in _WIDE]
    + [(F, name) for name in _WIDE_LAYERS]
    + [(torch.Tensor, name) for name in [*_WIDE, "__pow__", "__rpow__", "cpu"]]
)
PROMOTE = [(place, name) for place in (torch, torch.Tensor) for name in _TERNARY + _BINARY]
PROMOTE += [(torch.Tensor, name) for name in _OPERATORS]
SEQUENCE = [(torch, "cat"), (torch, "stack")]
# In place: the tensor that is written keeps its type; the others follow it.
FOLLOW = [(torch.Tensor, f"{name}_") for name in ["addmm", "addmv", "addr", "addbmm", "baddbmm"]]
FOLLOW += [(torch.Tensor, f"{name}_") for name in _TERNARY + _BINARY]
FOLLOW += [(torch.Tensor, f"__i{name}__") for name in ("add", "sub", "mul", "div", "truediv")]
# In place on half what must be computed in float32: an error.
REFUSED = [(torch.Tensor, f"{name}_") for name in _WIDE] + [(torch.Tensor, "__ipow__")]
BANNED = [(F, "binary_cross_entropy")]


def there(listed):
    """Those of a list that this torch has."""
    return [(place, name) for place, name in listed if hasattr(place, name)]
