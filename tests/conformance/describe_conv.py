# SPDX-License-Identifier: Apache-2.0
"""Cases of convolution and its gradients (see case.py for the form)."""

import functools

import torch
from case import REAL, T, case

# input, weight, stride, padding, dilation, transposed, output_padding, groups
GEOMETRIES = [
    ((2, 3, 9, 9), (8, 3, 3, 3), [1, 1], [1, 1], [1, 1], False, [0, 0], 1),
    ((2, 16, 8, 8), (32, 16, 1, 1), [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    ((3, 8, 9, 7), (8, 8, 3, 2), [2, 1], [1, 0], [1, 2], False, [0, 0], 1),
    ((2, 12, 8, 8), (6, 4, 3, 3), [1, 1], [1, 1], [1, 1], False, [0, 0], 3),
    ((2, 16, 8, 8), (16, 1, 3, 3), [2, 2], [1, 1], [1, 1], False, [0, 0], 16),
    ((2, 6, 11), (4, 6, 3), [2], [1], [1], False, [0], 1),
    ((1, 2, 5, 6, 4), (4, 2, 3, 3, 2), [1, 1, 1], [1, 0, 1], [1, 1, 1], False, [0, 0, 0], 1),
    ((2, 8, 5, 5), (8, 4, 3, 3), [2, 2], [1, 1], [1, 1], True, [1, 1], 1),
    ((2, 8, 6), (8, 3, 4), [3], [1], [1], True, [1], 2),
    ((6, 32, 28, 28), (64, 32, 3, 3), [1, 1], [1, 1], [1, 1], False, [0, 0], 1),
]


def forward(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    return torch.convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


def gradients(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups,
              output_mask):  # fmt: skip
    return torch.ops.aten.convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation,
                                               transposed, output_padding, groups, output_mask)  # fmt: skip


LAYOUTS = ("plain", "transposed", "sliced", "expanded", "channels_last")
sums = functools.partial(case, terms="absolute", layouts=LAYOUTS)
for input, weight, stride, padding, dilation, transposed, output_padding, groups in GEOMETRIES:
    options = {"stride": stride, "padding": padding, "dilation": dilation, "transposed": transposed,
               "output_padding": output_padding, "groups": groups}  # fmt: skip
    channels = weight[1] * groups if transposed else weight[0]
    shape = torch.convolution(torch.empty(input), torch.empty(weight), None, stride, padding, dilation, transposed,
                              output_padding, groups).shape  # fmt: skip
    for bias in (None, T(channels)):
        sums("aclnnConvolution", forward, REAL, input=T(*input), weight=T(*weight), bias=bias, **options)
    sums("aclnnConvolutionBackward", gradients, REAL, grad_output=T(*shape), input=T(*input), weight=T(*weight),
         bias_sizes=[channels], output_mask=[True, True, True], **options)  # fmt: skip
    sums("aclnnConvolutionBackward", gradients, [torch.float32], grad_output=T(*shape), input=T(*input),
         weight=T(*weight), bias_sizes=None, output_mask=[False, True, False],
         **options)  # fmt: skip
