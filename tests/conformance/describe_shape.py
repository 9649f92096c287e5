# SPDX-License-Identifier: Apache-2.0
"""Cases of concatenation, rearrangement and sequences."""

import torch
from case import ALL, COMPLEX, INTEGER, REAL, T, case

EVERY = ALL + COMPLEX
SAME = {"out_dtypes": {"out": None}}
INOUT = {"out_dtypes": {"self": None}}
CUBE = T(3, 4, 5)

for dim in (0, 1, -1):
    shapes = [[3, 4, 5], [3, 4, 5], [3, 4, 5]]
    for shape, size in zip(shapes, (1, 4, 0), strict=True):
        shape[dim] = size
    case("aclnnCat", lambda tensors, dim: torch.cat(tensors, dim), EVERY, tensors=[T(*s) for s in shapes], dim=dim,
         layouts=("plain", "transposed", "sliced"), **SAME)  # fmt: skip
    case("aclnnStack", lambda tensors, dim: torch.stack(tensors, dim), EVERY, tensors=[T(3, 4), T(3, 4)], dim=dim,
         **SAME)  # fmt: skip
    case("aclnnRepeatInterleaveIntWithDim", lambda self, repeats, dim: self.repeat_interleave(repeats, dim), EVERY,
         self=CUBE, repeats=3, dim=dim, output_size=0, **SAME)  # fmt: skip
case("aclnnCat", lambda tensors: torch.cat(tensors[1:]), REAL, tensors=[T(0), T(2, 3)], dim=0, layouts=("plain",),
     **SAME)  # fmt: skip
case("aclnnSplitWithSize", lambda self, split_sizes, dim: (list(self.split(split_sizes, dim)),), EVERY,
     self=T(3, 7), split_sizes=[2, 0, 5], dim=1, **SAME)  # fmt: skip
case("aclnnRepeatInterleaveInt", lambda self, repeats: self.repeat_interleave(repeats), EVERY, self=CUBE, repeats=2,
     output_size=0, **SAME)  # fmt: skip
case("aclnnPermute", lambda self, dims: self.permute(dims), EVERY, self=CUBE, dims=[2, 0, 1], **SAME)
for dims in ([0], [0, -1], []):
    case("aclnnFlip", lambda self, dims: self.flip(dims), EVERY, self=CUBE, dims=dims, **SAME)
case("aclnnFlip", lambda self, dims: self.flip(dims), REAL, self=T(0, 3), dims=[0], **SAME)
for shifts, dims in (([2], [1]), ([1, -7], [0, 2]), ([13], [])):
    case("aclnnRoll", lambda self, shifts, dims: self.roll(shifts, dims), EVERY, self=CUBE, shifts=shifts, dims=dims,
         **SAME)  # fmt: skip
for repeats in ([2, 1, 3], [2, 2, 1, 3], [1, 0, 1]):
    case("aclnnRepeat", lambda self, repeats: self.repeat(repeats), EVERY, self=CUBE, repeats=repeats, **SAME)
case("aclnnSlice", lambda self: self[:, 1:-1:2], EVERY, self=CUBE, dim=1, start=1, end=-1, step=2, **SAME)
for self, size in ((T(3, 1, 5), [3, 4, 5]), (T(3, 1, 5), [2, -1, 4, -1]), (T(1), [0]), (T(), [2, 3]), (T(4), [4])):
    case("aclnnExpand", lambda self, size: self.expand(size), EVERY, self=self, size=size, **SAME)
SLICED = [torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.int8, torch.uint8, torch.bool]
for starts, ends, axes, steps, keys in (
    ([1, 0], [-1, 9], [1, 2], [2, 3], (slice(None), slice(1, -1, 2), slice(0, 9, 3))),
    ([-2, 1, 2], [3, 2, 2], [0, -2, 2], [1, 1, 1], (slice(-2, 3), slice(1, 2), slice(2, 2))),
    ([-9], [2**62], [-1], [4], (..., slice(None, None, 4))),
):
    case("aclnnSliceV2", lambda self, keys=keys: self[keys], SLICED, self=CUBE, starts=starts, ends=ends, axes=axes,
         steps=steps, **SAME)  # fmt: skip
for size in (3, 7, 20):
    case("aclnnSplitTensor", lambda self, split_size, dim: (list(self.split(split_size, dim)),), EVERY, self=T(3, 7),
         split_size=size, dim=1, **SAME)  # fmt: skip


def _assign(keys):
    def assigned(out, self):
        out = out.clone()
        out[keys] = self
        return out

    return assigned


ASSIGNED = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64, torch.int8]
for starts, ends, axes, steps, keys, shape in (
    ([1, 0], [3, 4], [0, 1], [1, 2], (slice(1, 3), slice(0, 4, 2)), (2, 2, 5)),
    ([0, 1, 2], [9, -1, 4], None, [2, 1, 1], (slice(0, 9, 2), slice(1, -1), slice(2, 4)), (2, 2, 2)),
    ([-3], [-1], [-1], [1], (..., slice(-3, -1)), (3, 4, 2)),
):
    case("aclnnStridedSliceAssignV2", _assign(keys), ASSIGNED, out=CUBE, self=T(*shape), starts=starts, ends=ends,
         axes=axes, steps=steps)  # fmt: skip
MASKS = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0}
case("aclnnStridedSlice", lambda self: self[1:3, 0:4:2].flip(2)[:, :, :3], EVERY,
     self=CUBE, begin=[1, 0, 4], end=[3, 4, 1], strides=[1, 2, -1], **MASKS, **SAME)  # fmt: skip
case("aclnnStridedSlice", lambda self: self[1, ..., None, :3], REAL, self=CUBE, begin=[1, 0, 0, 0], end=[9, 9, 9, 3],
     strides=[1, 1, 1, 1], **(MASKS | {"shrink_axis_mask": 1, "ellipsis_mask": 2, "new_axis_mask": 4, "begin_mask": 8}),
     **SAME)  # fmt: skip
case("aclnnChannelShuffle", lambda self, groups: torch.channel_shuffle(self, groups), REAL, self=T(2, 6, 3, 4),
     groups=3)  # fmt: skip
case("aclnnConfusionTranspose", lambda self, perm, shape: self.permute(perm).reshape(shape), EVERY, self=CUBE,
     perm=[1, 0, 2], shape=[4, 15], transpose_first=True, **SAME)  # fmt: skip
case("aclnnConfusionTranspose", lambda self, perm, shape: self.reshape(shape).permute(perm), EVERY, self=T(4, 15),
     perm=[1, 2, 0], shape=[4, 3, 5], transpose_first=False, **SAME)  # fmt: skip
for shape, wrap in (((4, 6), False), ((7, 3), True), ((8, 3), True), ((3, 3, 3), False)):
    case("aclnnInplaceFillDiagonal", lambda self, fill, wrap: self.contiguous().fill_diagonal_(fill, wrap), ALL,
         self=T(*shape), fill=3, wrap=wrap, **INOUT)  # fmt: skip

case("aclnnArange", lambda start, end, step: torch.arange(start, end, step, dtype=torch.float64), REAL, start=0.5,
     end=7.2, step=0.7)  # fmt: skip
case("aclnnArange", lambda start, end, step: torch.arange(start, end, step), REAL + INTEGER, start=9, end=-3, step=-2,
     **SAME, layouts=("plain",))  # fmt: skip
case("aclnnRange", lambda: torch.arange(1, 8.5, 2, dtype=torch.float64), REAL, start=1.0, end=7.0, step=2.0)
case("aclnnLinspace", lambda start, end, steps: torch.linspace(start, end, steps, dtype=torch.float64), REAL,
     start=-1.5, end=4.0, steps=12)  # fmt: skip
case("aclnnLinspace", lambda start, end, steps: torch.linspace(start, end, steps, dtype=torch.int64),
     [torch.int64, torch.int32], start=0, end=10, steps=5)  # fmt: skip
case("aclnnLinspace", lambda start, end, steps: torch.linspace(start, end, steps, dtype=torch.complex128), COMPLEX,
     start=-1.5 + 2j, end=4.0 - 0.5j, steps=12)  # fmt: skip
case("aclnnLogSpace", lambda start, end, steps, base: torch.logspace(start, end, steps, base, dtype=torch.complex128),
     COMPLEX, start=-1.0 + 1j, end=2.0 - 3j, steps=7, base=10.0)  # fmt: skip
case("aclnnLogSpace", lambda start, end, steps, base: torch.logspace(start, end, steps, base, dtype=torch.float64),
     REAL, start=-1.0, end=2.0, steps=7, base=10.0)  # fmt: skip
case("aclnnEye", lambda n, m: torch.eye(n, m, dtype=torch.float64), REAL + INTEGER, n=4, m=6, **SAME)
for diagonal in (0, 2, -1, 9):
    for square in (T(4, 6), T(2, 5, 3)):
        options = {"self": square, "diagonal": diagonal}
        case("aclnnTril", lambda self, diagonal: self.tril(diagonal), EVERY, **options, **SAME)
        case("aclnnInplaceTril", lambda self, diagonal: self.tril(diagonal), EVERY, **options, **INOUT)
        case("aclnnTriu", lambda self, diagonal: self.triu(diagonal), EVERY, **options, **SAME)
        case("aclnnInplaceTriu", lambda self, diagonal: self.triu(diagonal), EVERY, **options, **INOUT)

# From blocks to rows; tests/end_to_end goes both ways.
for shape in ((16, 32), (40, 33), (2, 3, 17, 16), (3, 0)):
    case("aclnnNpuFormatCast", lambda src: src.clone(),
         [torch.float32, torch.float16, torch.bfloat16, torch.int8], src=T(*shape), layouts=("plain",),
         out_dtypes={"dst": None})  # fmt: skip
