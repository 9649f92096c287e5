# SPDX-License-Identifier: Apache-2.0
"""Cases of deformable convolution (see case.py for the form)."""

import torch
import torch.nn.functional as F
from case import T, case
from deformed import laid_out


def deformable(input, weight, offset, bias, kernel_size, stride, padding, dilation, groups, deformable_groups):
    made = laid_out(input, offset, kernel_size, stride, padding, dilation, deformable_groups)
    return F.conv2d(made, weight, bias, kernel_size, groups=groups), made


def deformable_backward(input, grad_output, deform_out, weight, offset, kernel_size, stride, padding, dilation, groups,
                        deformable_groups):  # fmt: skip
    """Of the weight, over what the forward pass has laid out; of input and offset, through the laying out."""
    plain = {"memory_format": torch.contiguous_format}
    image, moves, laid, kernel = (t.clone(**plain).requires_grad_() for t in (input, offset, deform_out, weight))
    bias = torch.zeros(len(weight), dtype=torch.float64, requires_grad=True)
    out = F.conv2d(laid, kernel, bias, kernel_size, groups=groups)
    by_laid, by_weight, by_bias = torch.autograd.grad(out, [laid, kernel, bias], grad_output)
    read = laid_out(image, moves, kernel_size, stride, padding, dilation, deformable_groups)
    by_image, by_moves = torch.autograd.grad(read, [image, moves], by_laid)
    return by_image, by_weight, by_moves, by_bias


def backward_terms(input, grad_output, deform_out, weight, offset, kernel_size, stride, padding, dilation, groups,
                   deformable_groups):  # fmt: skip
    """The sums of magnitudes. A slope is a difference of pixels: twice the largest, for each channel of its group."""
    moves = offset.clone()
    masks = moves[:, offset.shape[1] // 3 * 2 :]
    masks.abs_()
    image = input.abs().contiguous().requires_grad_()
    laid, kernel = deform_out.abs().requires_grad_(), weight.abs().requires_grad_()
    bias = torch.zeros(len(weight), dtype=torch.float64, requires_grad=True)
    out = F.conv2d(laid, kernel, bias, kernel_size, groups=groups)
    by_laid, by_weight, by_bias = torch.autograd.grad(out, [laid, kernel, bias], grad_output.abs())
    read = laid_out(image, moves, kernel_size, stride, padding, dilation, deformable_groups)
    by_image = torch.autograd.grad(read, image, by_laid)[0]
    (kh, kw), (rows, columns) = kernel_size, offset.shape[2:]
    places = by_laid.reshape(len(offset), deformable_groups, -1, rows, kh, columns, kw).sum(2).permute(0, 1, 3, 5, 2, 4)
    most = 2 * input.abs().max() * moves.abs().max().clamp(min=1)
    by_moves = (places * most)[:, None].expand(-1, 3, -1, -1, -1, -1, -1).reshape(offset.shape)
    return by_image, by_weight, by_moves, by_bias


SIZES = [((2, 4, 7, 6), (3, 4, 3, 3), [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], 1, 1),
         ((1, 4, 9, 8), (6, 2, 3, 2), [1, 1, 2, 1], [0, 1, 1, 2], [1, 1, 2, 1], 2, 2)]  # fmt: skip
for image, kernel, stride, padding, dilation, groups, deformable_groups in SIZES:
    size = kernel[2:]
    reach = [dilation[2 + d] * (size[d] - 1) + 1 for d in (0, 1)]
    out = [(image[2 + d] + padding[2 * d] + padding[2 * d + 1] - reach[d]) // stride[2 + d] + 1 for d in (0, 1)]
    elements = size[0] * size[1]
    values = {"input": T(*image), "weight": T(*kernel), "offset": T(image[0], 3 * deformable_groups * elements, *out),
              "kernel_size": list(size), "stride": stride, "padding": padding, "dilation": dilation, "groups": groups,
              "deformable_groups": deformable_groups, "modulated": True}  # fmt: skip
    layouts = ("plain", "sliced", "channels_last")
    for bias in (None, T(kernel[0])):
        case("aclnnDeformableConv2d", deformable, [torch.float32], layouts=layouts, bias=bias, **values)
    laid = {"deform_out": T(image[0], image[1], out[0] * size[0], out[1] * size[1])}
    case("aclnnDeformableConv2dBackward", deformable_backward, [torch.float32], layouts=layouts,
         grad_output=T(image[0], kernel[0], *out), terms=backward_terms, **laid, **values)  # fmt: skip
