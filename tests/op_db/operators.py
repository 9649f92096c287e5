# SPDX-License-Identifier: Apache-2.0
"""op_db: each operator's own samples, forward and backward."""

from functools import partial

import torch
from comparison import here, npu, outcome, tensors
from torch.testing._internal.common_methods_invocations import op_db

# Nothing about numbers can be compared: uninitialised memory, random values, or host-only objects.
NOT_COMPARABLE = {
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "bernoulli", "cauchy",
    "exponential", "geometric", "log_normal", "multinomial", "normal", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "uniform", "nn.functional.alpha_dropout", "nn.functional.dropout", "nn.functional.dropout2d",
    "nn.functional.dropout3d", "nn.functional.feature_alpha_dropout", "nn.functional.rrelu", "torch.cuda.",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d", "pca_lowrank", "svd_lowrank",
    "as_strided_scatter", "to_sparse", "nn.functional.scaled_dot_product_attention.dropout",
}  # fmt: skip
# Positions that torch takes from the CPU, whatever the device.
ON_THE_CPU = {"tensor_split"}
# Which of equal elements these name is free: what stands at their positions is compared.
POSITIONS = {"argsort", "sort", "topk", "kthvalue"}
# torch-npu gives a mask of its own for the positions, which its gradient takes.
MASKED = {"nn.functional.max_pool1d", "nn.functional.max_pool2d"}


def with_its_storage(value):
    """A tensor that is a part of a larger storage, on the NPU with all of it."""
    if not isinstance(value, torch.Tensor):
        return npu(value)
    whole = torch.empty(0, dtype=value.dtype).set_(value.untyped_storage())
    part = npu(whole).as_strided(value.shape, value.stride(), value.storage_offset())
    return part.detach().requires_grad_(value.requires_grad)


def bits(mask):
    """A mask as torch-npu's dropout makes it: a bit for each element, in multiples of 16 bytes."""
    packed = torch.zeros(-(-mask.numel() // 128) * 16, dtype=torch.uint8)
    flat = torch.zeros(packed.numel() * 8, dtype=torch.uint8)
    flat[: mask.numel()] = mask.flatten()
    return (flat.reshape(-1, 8) << torch.arange(8, dtype=torch.uint8)).sum(1).to(torch.uint8).to("npu")


def rest_of(name, place):
    if place is not npu:
        return place
    return here if name in ON_THE_CPU else place


def placed(name, sample, place):
    rest = rest_of(name, place)
    first = with_its_storage if name == "as_strided.partial_views" and place is npu else place
    args = [rest(a) for a in sample.args]
    if name == "native_dropout_backward" and place is npu:
        args[0] = bits(sample.args[0])
    if name == "nn.functional.multi_head_attention_forward":
        args[9] = 0.0  # dropout, which is random
    return first(sample.input), args, {k: rest(v) for k, v in sample.kwargs.items()}


def comparable_parts(name, out, input_, args, kwargs):
    """The results without those that may differ."""
    if name in POSITIONS and isinstance(input_, torch.Tensor) and input_.dim():
        given = [*args, kwargs.get("dim")] if name in ("argsort", "sort") else [*args[1:], kwargs.get("dim")]
        dim = next((d for d in given if type(d) is int), -1)
        values, at = (None, out) if isinstance(out, torch.Tensor) else out
        at = at if at.dim() == input_.dim() else at.unsqueeze(dim)
        return [values, input_.detach().take_along_dim(at, dim)]
    if name in MASKED and isinstance(out, tuple):
        return out[0]
    return out


def run(op, sample, backward, place):
    name = full_name(op)
    input_, args, kwargs = placed(name, sample, place)
    leaves = [t for t in tensors([input_, args, kwargs]) if t.requires_grad]
    out = comparable_parts(name, op(input_, *args, **kwargs), input_, args, kwargs)
    return outcome(out, leaves, backward)


def differentiates(op, dtype):
    if op.name == "native_dropout_backward":
        return False  # torch's own derivative of it does not know the mask of bits
    if dtype.is_complex:
        return op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    return op.supports_autograd and dtype.is_floating_point


def samples(op, dtype):
    backward = differentiates(op, dtype)
    for sample in op.sample_inputs("cpu", dtype, requires_grad=backward):
        if not sample.kwargs.get("dropout_p", 0) > 0:  # else random
            yield partial(run, op, sample, backward)


def full_name(op):
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


def comparable(op):
    return op.name not in NOT_COMPARABLE and full_name(op) not in NOT_COMPARABLE and not op.name.startswith("torch.")


def cases(dtype):
    """{name: a generator of samples}."""
    return {
        full_name(op): partial(samples, op, dtype)
        for op in op_db
        if comparable(op) and dtype in op.supported_dtypes("cpu")
    }
