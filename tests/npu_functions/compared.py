# SPDX-License-Identifier: Apache-2.0
"""Calls of functions that no aclnn function of their own stands behind, each with what a formula gives on the CPU.

A case is (arguments, formula): the function is called with the arguments on the NPU, the formula with those on the CPU.
"""

import torch
import torch.nn.functional as F

A = torch.linspace(-3, 3, 24).reshape(4, 6)
B = torch.linspace(2, -1, 24).reshape(4, 6).sin()
IMAGE = torch.linspace(-1, 1, 2 * 3 * 5 * 5).reshape(2, 3, 5, 5).sin()
KERNEL = torch.linspace(-1, 1, 4 * 3 * 3 * 3).reshape(4, 3, 3, 3).cos()
VOLUME = torch.linspace(-1, 1, 2 * 3 * 4 * 5 * 5).reshape(2, 3, 4, 5, 5).sin()
BLOCK = torch.linspace(-1, 1, 4 * 3 * 27).reshape(4, 3, 3, 3, 3).cos()
LABELS = F.one_hot(torch.tensor([1, 0, 5, 3]), 6).float()
FAST = 1.702


def gradient(function, *inputs):
    """The gradient of the first input, which `function` takes besides the gradient of its result."""

    def formula(grad, *others):
        x = others[0].clone().requires_grad_()
        function(x, *others[1:]).backward(grad)
        return x.grad

    return formula


def bits(x, size):
    """Signs as bits, the first the lowest; a missing one counts as set."""
    signs = torch.cat([x >= 0, torch.ones(-len(x) % 8, dtype=torch.bool)]).reshape(-1, 8)
    return (signs * 2 ** torch.arange(8)).sum(1).to(torch.uint8).reshape(size, -1)


def fast_gelu(x):
    return x * torch.exp(0.851 * (x - x.abs())) / (1 + torch.exp(-FAST * x.abs()))


def gradients(function):
    """Of input, weight and bias of a convolution."""

    def formula(x, grad, weight, stride, padding, dilation, groups, mask):
        leaves = [one.clone().requires_grad_() for one in (x, weight, torch.zeros(grad.shape[1]))]
        function(*leaves, stride, padding, dilation, groups).backward(grad)
        return tuple(leaf.grad for leaf in leaves)

    return formula


def layer_norm_gradients(grad, x, shape, mean, variance, weight, bias):
    leaves = [one.clone().requires_grad_() for one in (x, weight, bias)]
    F.layer_norm(leaves[0], shape, *leaves[1:]).backward(grad)
    return tuple(leaf.grad for leaf in leaves)


def spectrum_gradient(grad, dims, normalization, onesided, size):
    x = torch.zeros(*grad.shape[:-1], size, requires_grad=True)
    torch.fft.rfft(x).backward(grad)
    return x.grad


SPECTRUM = torch.complex(A[:, :4].sin(), B[:, :4].contiguous())
ALL = [True, True, True]
COMPARED = {
    "fast_gelu": ((A,), fast_gelu),
    "npu_silu": ((A,), F.silu),
    "npu_silu_": ((A.clone(),), F.silu),
    "npu_silu_backward": ((B, A, F.silu(A)), lambda g, x, y: gradient(F.silu)(g, x)),
    "npu_mish": ((A,), F.mish),
    "npu_mish_backward": ((B, A), gradient(F.mish)),
    "npu_max": ((B, 1), lambda x, dim: tuple(x.max(dim))),
    "npu_min": ((B, 1), lambda x, dim: tuple(x.min(dim))),
    "npu_pad": ((A, [1, 2, 0, 3]), lambda x, p: F.pad(x, (p[2], p[3], p[0], p[1]))),
    "npu_reshape": ((A, [3, 8]), lambda x, shape: x.reshape(shape)),
    "npu_slice": ((A, [1, 2], [2, 3]), lambda x, first, size: x[1:3, 2:5]),
    "npu_sort_v2": ((B,), lambda x: x.sort(-1).values),
    "npu_stride_copy": ((A, [2, 3], [6, 2], 1), lambda x, size, stride, offset: torch.as_strided(
        x, size, stride, 1)),
    "npu_broadcast": ((A[:, :1].clone(), [4, 6]), lambda x, size: x.expand(size)),
    "npu_transpose": ((A, [1, 0]), lambda x, perm: x.permute(perm)),
    "npu_view_copy": ((torch.zeros(4, 6), A, False), lambda x, other, _: other),
    "npu_sign_bits_pack": ((B.flatten()[:16], 2), bits),
    "npu_gather_backward": ((torch.ones(4, 2), [4, 6], 1, torch.tensor([[0, 1], [2, 2], [3, 5], [0, 0]]), False),
                            lambda g, size, dim, index, _: torch.zeros(size).scatter_add(dim, index, g)),
    "npu_dtype_cast_": ((torch.zeros(4, 6, dtype=torch.float16), A), lambda x, other: other.half()),
    "_npu_dtype_cast_backward": ((A.half(), torch.float32), lambda g, dtype: g.to(dtype)),
    "npu_dtype_cast_backward": ((A.half(), torch.float32), lambda g, dtype: g.to(dtype)),
    "npu_format_cast": ((A, 2), lambda x, _: x),
    "_npu_format_cast": ((A, 2), lambda x, _: x),
    "npu_format_cast_": ((A.clone(), 2), lambda x, _: x),
    "npu_layer_norm_eval": ((A, [6]), F.layer_norm),
    "npu_conv2d": ((IMAGE, KERNEL, None, [1, 1], [1, 1], [1, 1], 1), F.conv2d),
    "npu_convolution": ((IMAGE, KERNEL, None, [2, 1], [0, 1], [1, 1], 1), F.conv2d),
    "npu_conv3d": ((VOLUME, BLOCK, None, [1, 1, 1], [1, 1, 1], [1, 1, 1], 1), F.conv3d),
    "npu_conv_transpose2d": ((IMAGE, KERNEL.transpose(0, 1).contiguous(), None, [1, 1], [0, 0], [2, 2], [1, 1], 1),
                             lambda x, w, b, pad, more, stride, dilation, groups: F.conv_transpose2d(
                                 x, w, b, stride, pad, more, groups, dilation)),
    "npu_bmmV2": ((A[None], B.t()[None].contiguous(), []), lambda x, y, _: x @ y),
    "npu_softmax_cross_entropy_with_logits": ((A, LABELS), lambda x, y: F.cross_entropy(x, y, reduction="none")),
    "npu_softmax_cross_entropy_with_logits_backward": (
        (B[:, 0].clone(), A, LABELS), lambda g, x, y: g[:, None] * (x.softmax(-1) - y)),
    "repeat_interleave_backward_int": ((torch.arange(12.0), torch.zeros(6), 2, None),
                                       lambda g, x, n, dim: g.reshape(6, 2).sum(1)),
    "npu_max_backward": ((B[:, 0].clone(), 1, A.argmax(1).int(), [4, 6], False),
                         lambda g, dim, i, size, keep: torch.zeros(size).scatter(1, i.long()[:, None], g[:, None])),
    "npu_min_backward": ((B[:, 0].clone(), 1, A.argmin(1).int(), [4, 6], False),
                         lambda g, dim, i, size, keep: torch.zeros(size).scatter(1, i.long()[:, None], g[:, None])),
    "npu_scatter": ((torch.zeros(4, 6), torch.tensor([1, 0, 5, 3], dtype=torch.int32), B[:, 0].clone(), 1),
                    lambda x, i, g, dim: x.scatter(1, i.long()[:, None], g[:, None])),
    "get_storage_size": ((A,), lambda x: x.numel()),
    "get_npu_format": ((A,), lambda x: 2),
    "npu_fast_gelu": ((A,), fast_gelu),
    "one_": ((A.clone(),), torch.ones_like),
    "npu_conv2d_backward": ((IMAGE, torch.ones(2, 4, 5, 5).cumsum(-1), KERNEL, [1, 1], [1, 1], [1, 1], 1, ALL),
                            gradients(F.conv2d)),
    "npu_convolution_backward": ((IMAGE, torch.ones(2, 4, 3, 5).cumsum(-1), KERNEL, [2, 1], [1, 1], [1, 1], 1, ALL),
                                 gradients(F.conv2d)),
    "npu_conv3d_backward": ((VOLUME, torch.ones(2, 4, 4, 5, 5).cumsum(-1), BLOCK, [1] * 3, [1] * 3, [1] * 3, 1, ALL),
                            gradients(F.conv3d)),
    "npu_convolution_transpose": ((IMAGE, KERNEL.transpose(0, 1).contiguous(), None, [1, 1], [0, 0], [2, 2], [1, 1], 1),
                                  lambda x, w, b, pad, more, stride, dilation, groups: F.conv_transpose2d(
                                      x, w, b, stride, pad, more, groups, dilation)),
    "npu_renorm_backward": ((B, A, 2.0, 0, 3.0), lambda g, x, p, dim, most: gradient(
        lambda y: y.renorm(p, dim, most))(g, x)),
    # What is called rstd is the variance, as the type LayerNormGrad takes it.
    "npu_layernorm_grad": ((B, A, [6], A.mean(-1, keepdim=True), A.var(-1, False, keepdim=True),
                            B[0].clone(), B[1].clone()), layer_norm_gradients),
    "npu_bmm_v2_mat1_backward": ((torch.ones(2, 4, 3).cumsum(-1), torch.ones(2, 4, 6), B[:, :3].t().repeat(2, 1, 2)[
        :, :, :6].transpose(1, 2).contiguous(), [2, 4, 6]), lambda g, x, y, size: g @ y.transpose(1, 2)),
    "npu_bmm_v2_mat2_backward": ((torch.ones(2, 4, 3).cumsum(-1), A.repeat(2, 1, 1), torch.ones(2, 6, 3), [2, 6, 3]),
                                 lambda g, x, y, size: x.transpose(1, 2) @ g),
    "npu_sign_bits_unpack": ((torch.tensor([5, 255, 0, 170], dtype=torch.uint8), 2, torch.float32),
                             lambda x, size, dtype: ((x[:, None] >> torch.arange(8)) % 2 * 2.0 - 1).reshape(size, -1)),
    "fft_r2c_backward": ((SPECTRUM, [1], 0, True, 6), spectrum_gradient),
    "copy_memory_": ((torch.zeros(4, 6), A), lambda x, source: source),
    "npu_gather_sparse_index_backward": ((A[:3], [4, 6], torch.tensor([1, 3, 1])),
                                         lambda g, size, index: torch.zeros(size).index_add(0, index, g)),
    "dropout_with_byte_mask": ((A, 0.5, False), lambda x, p, train: x),
}  # fmt: skip
