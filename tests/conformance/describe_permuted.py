# SPDX-License-Identifier: Apache-2.0
"""Cases of products between other steps: permuted batches, low-rank updates, feed-forward parts, views of convolutions
(see case.py for the form)."""

import torch
import torch.nn.functional as F
from case import T, case

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
HALF = [torch.float16, torch.bfloat16]
ABSENT = dict.fromkeys(
    ("scale", "offset", "deq_scale1", "deq_scale2", "antiquant_scale1", "antiquant_scale2", "antiquant_offset1",
     "antiquant_offset2")
)  # fmt: skip

# --- batches in any order of axes -----------------------------------------------------------------------------------


def permuted_product(x1, x2, perm_x1, perm_x2, perm_y, batch_split_factor):
    made = x1.permute(perm_x1) @ x2.permute(perm_x2)
    if batch_split_factor == 1:
        return made.permute(perm_y)
    batch, m, n = made.shape
    groups = made.reshape(batch_split_factor, batch // batch_split_factor, m, n)
    return groups.transpose(1, 2).reshape(batch_split_factor, m, -1)


for first, order1 in (((6, 5, 40), [0, 1, 2]), ((5, 6, 40), [1, 0, 2])):
    for second, order2 in (((6, 40, 33), [0, 1, 2]), ((6, 33, 40), [0, 2, 1])):
        for order, factor in (([1, 0, 2], 1), ([0, 1, 2], 1), ([1, 0, 2], 3)):
            case("aclnnTransposeBatchMatMul", permuted_product, FLOATS, x1=T(*first), x2=T(*second), bias=None,
                 scale=None, perm_x1=order1, perm_x2=order2, perm_y=order, batch_split_factor=factor,
                 layouts=("plain", "transposed", "sliced"), terms="absolute")  # fmt: skip
            case("aclnnTransposeBatchMatMulWeightNz", permuted_product, FLOATS, x1=T(*first), x2=T(*second), bias=None,
                 scale=None, perm_x1=order1, perm_x2=order2, perm_y=order, batch_split_factor=factor,
                 layouts=("plain", "transposed"), terms="absolute")  # fmt: skip

# --- low-rank updates -----------------------------------------------------------------------------------------------


def add_lora(y, x, weight_b, indices, weight_a, layer_idx, scale, y_offset):
    out = y.clone()
    for i, w in enumerate(indices.tolist()):
        if w < 0:
            continue
        row = x[i] if weight_a is None else weight_a[w, layer_idx] @ x[i]
        out[i, y_offset : y_offset + weight_b.shape[2]] += scale * (weight_b[w, layer_idx] @ row)
    return out


def chosen(*numbers):
    return T(len(numbers), dtype=torch.int32, values=lambda _: torch.tensor(numbers, dtype=torch.int32))


for rank, a in ((16, T(3, 2, 16, 48)), (48, None)):
    for numbers in ((0, 2, -1, 2, 1, 0), (1,) * 6, (-1,) * 6):
        for offset, size in ((0, 64), (16, 32), (0, -1)):
            case("aclnnAddLora", add_lora, [torch.float16], y=T(6, 64), x=T(6, 48), weight_b=T(3, 2, 32, rank),
                 indices=chosen(*numbers), weight_a=a, layer_idx=1, scale=0.5, y_offset=offset, y_slice_size=size,
                 layouts=("plain", "sliced"), terms="absolute")  # fmt: skip

# --- feed-forward parts ---------------------------------------------------------------------------------------------

ACTIVATIONS = {
    "fastgelu": lambda h: h * torch.sigmoid(1.702 * h),
    "gelu": F.gelu,
    "relu": F.relu,
    "silu": F.silu,
    "swiglu": lambda h: F.silu(h.chunk(2, -1)[0]) * h.chunk(2, -1)[1],
}


def one_expert(x, weight1, weight2, bias1, bias2, activation):
    hidden = ACTIVATIONS[activation](x @ weight1 + (0 if bias1 is None else bias1))
    return hidden @ weight2 + (0 if bias2 is None else bias2)


def feed_forward(x, weight1, weight2, expert_tokens, bias1, bias2, activation, tokens_index_flag=False):
    if not expert_tokens:
        return one_expert(x, weight1, weight2, bias1, bias2, activation)
    counts = torch.tensor(expert_tokens)
    counts = torch.diff(counts, prepend=torch.tensor([0])) if tokens_index_flag else counts
    parts = x.flatten(0, -2).split(counts.tolist())
    members = [
        one_expert(p, weight1[e], weight2[e], None if bias1 is None else bias1[e], None if bias2 is None else bias2[e],
                   activation)
        for e, p in enumerate(parts)
    ]  # fmt: skip
    return torch.cat(members).unflatten(0, x.shape[:-1])


def feed_forward_terms(x, weight1, weight2, expert_tokens, bias1, bias2, activation, tokens_index_flag=False):
    """Hidden numbers are at most as large as their terms, and so are what activations make of them."""
    arguments = (None if t is None else t.abs() for t in (x, weight1, weight2, bias1, bias2))
    x, weight1, weight2, bias1, bias2 = arguments
    kind = "relu" if activation != "swiglu" else activation
    return feed_forward(x, weight1, weight2, expert_tokens, bias1, bias2, kind, tokens_index_flag)


def indexed_feed_forward(x, weight1, weight2, expert_tokens, bias1, bias2, activation, tokens_index_flag):
    return feed_forward(x, weight1, weight2, expert_tokens, bias1, bias2, activation, tokens_index_flag)


def indexed_terms(x, weight1, weight2, expert_tokens, bias1, bias2, activation, tokens_index_flag):
    return feed_forward_terms(x, weight1, weight2, expert_tokens, bias1, bias2, activation, tokens_index_flag)


def describe_feed_forward(activation, x, weight1, weight2, tokens=(), flag=False, bias1=None, bias2=None):
    values = {"x": x, "weight1": weight1, "weight2": weight2, "expert_tokens": list(tokens), "bias1": bias1,
              "bias2": bias2, "activation": activation, "inner_precise": 0, **ABSENT}  # fmt: skip
    if not flag:
        case("aclnnFFN", feed_forward, HALF, terms=feed_forward_terms, layouts=("plain",), **values)
    case("aclnnFFNV2", indexed_feed_forward, HALF, terms=indexed_terms, layouts=("plain",), tokens_index_flag=flag,
         **values)  # fmt: skip


small = {"low": -0.5, "high": 0.5}
for name in ACTIVATIONS:
    columns = 2 if name == "swiglu" else 1
    describe_feed_forward(name, T(2, 5, 32, **small), T(32, 48 * columns, **small), T(48, 32, **small))
    describe_feed_forward(name, T(7, 32, **small), T(32, 48 * columns, **small), T(48, 32, **small),
                          bias1=T(48 * columns), bias2=T(32))  # fmt: skip
for tokens, flag in (((3, 0, 4), False), ((3, 3, 7), True), ((7, 7, 7), True)):
    describe_feed_forward("relu", T(7, 32, **small), T(3, 32, 48, **small), T(3, 48, 32, **small), tokens, flag,
                          T(3, 48), T(3, 32, dtype=torch.float32))  # fmt: skip

# --- convolutions under other names ---------------------------------------------------------------------------------


def depthwise(self, weight, bias, stride, padding, dilation):
    return F.conv2d(self, weight, bias, stride, padding, dilation, self.shape[1])


for multiplier, stride, padding, dilation in ((1, [1, 1], [1, 1], [1, 1]), (2, [2, 1], [0, 1], [1, 2])):
    for bias in (None, T(4 * multiplier)):
        case("aclnnConvDepthwise2d", depthwise, FLOATS, self=T(2, 4, 9, 8), weight=T(4 * multiplier, 1, 3, 2),
             kernel_size=[3, 2], bias=bias, stride=stride, padding=padding, dilation=dilation,
             layouts=("plain", "sliced", "channels_last"), terms="absolute")  # fmt: skip


def conv_tbc(self, weight, bias, pad):
    return torch.conv_tbc(self.contiguous(), weight.contiguous(), bias, pad)


def conv_tbc_backward(self, input, weight, bias, pad):
    leaves = [t.clone(memory_format=torch.contiguous_format).requires_grad_() for t in (input, weight, bias)]
    return torch.autograd.grad(torch.conv_tbc(*leaves, pad), leaves, self.contiguous())


for steps, pad in ((7, 0), (5, 2)):
    layouts = ("plain", "transposed", "sliced")
    case("aclnnConvTbc", conv_tbc, FLOATS, self=T(steps, 3, 6), weight=T(3, 6, 8), bias=T(8), pad=pad, layouts=layouts,
         terms="absolute")  # fmt: skip
    case("aclnnConvTbcBackward", conv_tbc_backward, FLOATS, self=T(steps + 2 * pad - 2, 3, 8), input=T(steps, 3, 6),
         weight=T(3, 6, 8), bias=T(8), pad=pad, layouts=layouts, terms="absolute")  # fmt: skip
