# SPDX-License-Identifier: Apache-2.0
"""Tensors that are views of one flat buffer, each in a room of whole blocks with a gap behind it."""

import torch

_BLOCK, _GAP = 16, 32  # elements


def _room(tensor):
    return -(-tensor.numel() // _BLOCK) * _BLOCK + _GAP


def _views(flat, tensors):
    offset, views = 0, []
    for tensor in tensors:
        views.append(flat[offset : offset + tensor.numel()].view(tensor.shape))
        offset += _room(tensor)
    return views


def _checked(tensors):
    kinds = {(tensor.dtype, tensor.device) for tensor in tensors}
    if len(kinds) > 1:
        raise RuntimeError(
            f"combine_npu: tensors of one type and device go into a buffer, these are {sorted(map(str, kinds))}"
        )
    if any(tensor.layout != torch.strided for tensor in tensors):
        raise RuntimeError("combine_npu: sparse tensors do not go into a buffer")
    if next(iter(kinds))[0] not in (torch.float16, torch.float32):
        raise RuntimeError(f"combine_npu: a buffer holds float16 or float32, not {next(iter(kinds))[0]}")


def _empty(tensors):
    return torch.zeros(sum(map(_room, tensors)), dtype=tensors[0].dtype, device=tensors[0].device)


@torch.no_grad()
def combine_npu(tensors, require_copy_value=True):
    """A flat buffer that `tensors` are views of from now on; None for no tensor. Without the values it holds zeros."""
    if not tensors:
        return None
    _checked(tensors)
    flat = _empty(tensors)
    for tensor, view in zip(tensors, _views(flat, tensors), strict=True):
        if require_copy_value:
            view.copy_(tensor)
        tensor.data = view
    return flat


def get_part_combined_tensor(combined, index, size):
    """`size` elements of a buffer from `index` on, as a view; None where there is no buffer."""
    if combined is None:
        return None
    if index < 0 or size < 0 or index + size > combined.numel():
        raise RuntimeError(f"elements {index} to {index + size} are outside of a buffer of {combined.numel()}")
    return combined[index : index + size]


def is_combined_tensor_valid(combined, tensors):
    """Whether `tensors` still are the views that combine_npu has made of them."""
    if combined is None:
        return not tensors
    total = sum(map(_room, tensors))
    views = _views(combined, tensors) if total <= combined.numel() else []
    return bool(views) and all(a.data_ptr() == b.data_ptr() for a, b in zip(tensors, views, strict=True))


class FlatGrads:
    """The gradients of parameters of one type as views of one buffer."""

    def __init__(self, parameters):
        self.parameters = parameters
        grads = [parameter.grad for parameter in parameters]
        _checked(grads)
        self.flat = _empty(grads)
        self.views = _views(self.flat, grads)
        self.is_zero = True
        self.attach(strict=False)

    def attach(self, strict):
        """Brings gradients back that the script has replaced; with `strict` that is an error."""
        for parameter, view in zip(self.parameters, self.views, strict=True):
            if parameter.grad is not None and parameter.grad.data_ptr() == view.data_ptr():
                continue
            if strict:
                text = "check_combined_tensors: a gradient is no longer part of its combined buffer; "
                raise RuntimeError(text + "use zero_grad() of the optimizer or model, and write into .grad in place")
            if parameter.grad is None:
                view.zero_()
            else:
                view.copy_(parameter.grad)
            parameter.grad = view

    def zero(self):
        if not self.is_zero:
            self.flat.zero_()
        self.is_zero = True

    def zero_of(self, parameters):
        for parameter, view in zip(self.parameters, self.views, strict=True):
            if parameter in parameters:
                view.zero_()
