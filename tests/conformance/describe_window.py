# SPDX-License-Identifier: Apache-2.0
"""Cases of what stands between products in attention and detectors: windows, heads, clipped gates, chunks, regions (see
case.py for the form)."""

import math

import torch
from case import T, case

FLOATS = [torch.float32, torch.float16, torch.bfloat16]

# --- windows and heads ----------------------------------------------------------------------------------------------

B, W, N, S1, S2 = 2, 3, 4, 5, 37


def window_softmax(x, atten_mask, relative_pos_bias, scale):
    scores = scale * x.reshape(B, W, N, S1, S2) + relative_pos_bias.reshape(N, S1, S2)
    if atten_mask is not None:
        scores = scores + atten_mask.reshape(W, 1, S1, S2)
    return scores.softmax(-1).reshape(x.shape)


for x in (T(B * W, N, S1, S2), T(B, W, N, S1, S2)):
    for mask in (None, T(W, S1, S2), T(W, 1, S1, S2), T(1, W, 1, S1, S2)):
        for bias in (T(N, S1, S2), T(1, N, S1, S2), T(1, 1, N, S1, S2)):
            case("aclnnMaskedSoftmaxWithRelPosBias", window_softmax, FLOATS, x=x, atten_mask=mask,
                 relative_pos_bias=bias, scale=0.4, inner_precision_mode=0,
                 layouts=("plain", "transposed", "sliced"))  # fmt: skip


def split_heads(qkv, qkv_bias, num_heads):
    parts = (qkv + qkv_bias).chunk(3, -1)
    q, k, v = (t.unflatten(-1, (num_heads, -1)).transpose(1, 2) for t in parts)
    return q / math.sqrt(q.shape[-1]), k, v


for shape, heads in (((2, 5, 48), 4), ((1, 7, 30), 1)):
    case("aclnnTransformBiasRescaleQkv", split_heads, FLOATS, qkv=T(*shape), qkv_bias=T(shape[-1]), num_heads=heads,
         layouts=("plain", "transposed", "sliced"))  # fmt: skip

# --- the clipped gate -----------------------------------------------------------------------------------------------


def clipped_swiglu(x, dim, alpha, limit, bias, interleaved):
    rows = x.flatten(dim % x.dim())
    a, b = (rows[..., ::2], rows[..., 1::2]) if interleaved else rows.chunk(2, -1)
    a, b = a.clamp(max=limit), b.clamp(-limit, limit)
    made = a * torch.sigmoid(alpha * a) * (b + bias)
    return made.reshape([d // 2 if i == dim % x.dim() else d for i, d in enumerate(x.shape)])


for shape, dim in (((7, 66), -1), ((3, 4, 10), 1), ((2, 3, 8), 2)):
    for interleaved in (True, False):
        case("aclnnClippedSwiglu", clipped_swiglu, FLOATS, x=T(*shape, low=-9, high=9), group_index=None, dim=dim,
             alpha=1.702, limit=7.0, bias=1.0, interleaved=interleaved, layouts=("plain", "sliced"))  # fmt: skip


def first_rows(x, group_index, dim, alpha, limit, bias, interleaved):
    made = clipped_swiglu(x, dim, alpha, limit, bias, interleaved)
    made[group_index.sum() :] = 77  # of the rows that nobody writes
    return made


for numbers in ([2, 0, 3], [0], [4, 9]):
    groups = T(len(numbers), dtype=torch.int64, values=lambda _, numbers=numbers: torch.tensor(numbers))
    case("aclnnClippedSwiglu", first_rows, FLOATS, x=T(7, 66, low=-9, high=9), group_index=groups, dim=-1, alpha=1.5,
         limit=5.0, bias=0.5, interleaved=True, layouts=("plain",))  # fmt: skip

# --- chunks ---------------------------------------------------------------------------------------------------------


def chunk_cat(tensors, dim, num_chunks):
    return torch.ops.aten._chunk_cat([t.contiguous() for t in tensors], dim, num_chunks)


for shapes, dim in (([(6, 3), (4,), (1, 2, 5)], 0), ([(2, 6, 3), (2, 7)], 1)):
    for chunks in (1, 2, 4):
        case("aclnnChunkCat", chunk_cat, FLOATS, tensors=[T(*shape) for shape in shapes], dim=dim, num_chunks=chunks,
             layouts=("plain", "transposed", "sliced"))  # fmt: skip
case("aclnnChunkCat", chunk_cat, [torch.float16, torch.bfloat16], tensors=[T(5, 3), T(9)], dim=0, num_chunks=4,
     out_dtypes={"out": torch.float32}, layouts=("plain",))  # fmt: skip

# --- regions of feature maps ----------------------------------------------------------------------------------------


def weights(start, length, outputs, grid, size):
    """[outputs, size]: how much each pixel of an axis counts for each output."""
    made = torch.zeros(outputs, size, dtype=torch.float64)
    for i in range(outputs * grid):
        at = start + (i // grid + (i % grid + 0.5) / grid) * length / outputs
        if -1 <= at <= size:
            at = max(at, 0.0)
            low = min(int(at), size - 1)
            far = at - low if low < size - 1 else 0.0
            made[i // grid, low] += (1 - far) / grid
            made[i // grid, min(low + 1, size - 1)] += far / grid
    return made


def region(numbers, spatial_scale, outputs, sample_num, roi_end_mode, size):
    begin, end = numbers
    half = 0.5 if roi_end_mode == 3 else 0.0
    start = begin * spatial_scale - half
    length = (end + (roi_end_mode == 1)) * spatial_scale - half - start
    length = max(length, 1.0) if roi_end_mode == 0 else length
    return weights(start, length, outputs, sample_num or math.ceil(length / outputs), size)


def roi_align(features, rois, spatial_scale, pooled_height, pooled_width, sample_num, roi_end_mode):
    made = []
    for image, x0, y0, x1, y1 in rois.tolist():
        of = features[int(image)]
        rows = region((y0, y1), spatial_scale, pooled_height, sample_num, roi_end_mode, of.shape[1])
        columns = region((x0, x1), spatial_scale, pooled_width, sample_num, roi_end_mode, of.shape[2])
        made.append(rows @ of @ columns.T)
    return torch.stack(made)


def roi_align_backward(self, rois, input_shape, pooled_width, pooled_height, spatial_scale, sample_num, roi_end_mode):
    features = torch.zeros(input_shape, dtype=torch.float64, requires_grad=True)
    made = roi_align(features, rois, spatial_scale, pooled_height, pooled_width, sample_num, roi_end_mode)
    return torch.autograd.grad(made, features, self)[0]


# Inside, over the edges, smaller than a pixel, of the second image.
ROIS = [[0, 2, 3, 30, 25], [1, -6, -9, 40, 51], [1, 8, 8, 8.5, 9], [0, 20, 0, 47, 16], [1, 33, 30, 60, 70]]
regions = T(len(ROIS), 5, values=lambda _: torch.tensor(ROIS, dtype=torch.float64))
for mode in (0, 1, 3):
    for samples in (2, 0):
        options = {"rois": regions, "spatial_scale": 0.25, "pooled_height": 3, "pooled_width": 2,
                   "sample_num": samples, "roi_end_mode": mode}  # fmt: skip
        layouts = ("plain", "sliced", "channels_last")
        kinds = [torch.float32, torch.float16]
        case("aclnnROIAlign", roi_align, kinds, features=T(2, 3, 12, 11), layouts=layouts, terms="absolute", **options)
        case("aclnnROIAlignBackward", roi_align_backward, kinds, self=T(len(ROIS), 3, 3, 2), input_shape=[2, 3, 12, 11],
             layouts=layouts, terms="absolute", **options)  # fmt: skip
