# SPDX-License-Identifier: Apache-2.0
"""Cases of reading and writing through index tensors."""

import torch
import torch.nn.functional as F
from case import ALL, COMPLEX, INTEGER, NUMERIC, REAL, T, case

EVERY = ALL + COMPLEX
SAME = {"out_dtypes": {"out": None}}
INOUT = {"out_dtypes": {"self": None}}


def I(*values, dtype=torch.int64):  # noqa: E743
    return T(1, values=lambda g: torch.tensor(values if len(values) > 1 else values[0]).to(dtype), dtype=dtype)


def P(*shape, high, dtype=torch.int64):
    return T(1, values=lambda g: torch.randint(0, high, shape, generator=g).to(dtype), dtype=dtype)


for dim in (0, 1, -1):
    for index in (I(2, 0, 2), I([1]), I(1, 1, dtype=torch.int32)):
        case("aclnnIndexSelect", lambda self, dim, index: self.index_select(dim, index.flatten()), EVERY,
             self=T(3, 4, 5), dim=dim, index=index, layouts=("plain", "transposed"), **SAME)  # fmt: skip
    case("aclnnGather", lambda self, dim, index: self.gather(dim, index), EVERY, self=T(3, 4, 5), dim=dim,
         index=P(2, 3, 4, high=3), **SAME)  # fmt: skip
    case("aclnnGatherV2", lambda self, dim, index: self[(slice(None),) * (dim % 3) + (index,)], REAL, self=T(3, 4, 5),
         dim=dim, index=P(2, 3, high=3), **SAME)  # fmt: skip
case("aclnnIndexSelect", lambda self, index: self.index_select(0, index), EVERY, self=T(), dim=0, index=I(0), **SAME)
case("aclnnIndexSelect", lambda self, index: self.index_select(0, index), EVERY, self=T(), dim=-1,
     index=P(1, high=1), **SAME)  # fmt: skip
case("aclnnIndexSelect", lambda self, index: self.index_select(0, index[None]), EVERY, self=T(4), dim=0,
     index=P(high=4), **SAME)  # fmt: skip
case("aclnnGather", lambda self, index: self.gather(0, index), REAL, self=T(), dim=0, index=I(0, 0), **SAME)
case("aclnnGatherV3", lambda self, index: self[:, index], REAL, self=T(3, 4, 5), dim=1, index=P(2, 3, high=4),
     batch_dims=0, mode=0, **SAME)  # fmt: skip
case("aclnnGatherV3", lambda self, index: torch.stack([self[b][:, index[b]] for b in range(3)]), REAL, self=T(3, 4, 5),
     dim=2, index=P(3, 2, high=5), batch_dims=1, mode=0, **SAME)  # fmt: skip
for index in (P(4, 6, high=7), P(4, 6, high=7, dtype=torch.int32), P(high=7), P(0, high=7)):
    case("aclnnEmbedding", lambda self, index: F.embedding(index.long(), self), REAL, self=T(7, 33), index=index)
case("aclnnTake", lambda self, index: self.take(index), EVERY, self=T(3, 4), index=I([0, -1], [5, 7]), **SAME)


def _index(self, indices):
    return self[tuple(slice(None) if i is None else i for i in indices)]


NONE = None
for indices in (
    [P(4, high=3)],
    [P(4, 2, high=3), P(2, high=4)],
    [NONE, P(4, high=4)],
    [NONE, P(2, 3, high=4), I(1, -1, -5)],
    [P(2, 3, high=3), NONE, P(3, high=5)],
    [NONE, NONE, I(-1, 0)],
    [P(0, 2, high=3)],
):
    case("aclnnIndex", _index, EVERY, self=T(3, 4, 5), indices=indices, **SAME)

# A placeholder of shape {0} means "not indexed"; a real empty index gives an empty result.
case("aclnnIndex", lambda self, indices: self[:, indices[1]], REAL, self=T(3, 4), indices=[T(0), P(2, high=4)], **SAME)
case("aclnnIndex", lambda self, indices: self[indices[0]], REAL, self=T(3, 4), indices=[P(0, high=3)], **SAME)


def _put(self, indices, values, accumulate):
    keys = [torch.arange(s) if i is None else i for i, s in zip(indices, self.shape, strict=False)]
    if any(i is None for i in indices):  # torch wants all dimensions given
        keys = torch.meshgrid(*keys, indexing="ij")
    return self.index_put(tuple(keys), values, accumulate)


for accumulate in (False, True):
    case("aclnnIndexPutImpl", _put, EVERY, self=T(6, 4), indices=[I(5, 0, 3)], values=T(3, 4), accumulate=accumulate,
         unsafe=False, **INOUT)  # fmt: skip
    case("aclnnIndexPutImpl", _put, EVERY, self=T(6, 4), indices=[NONE, I(-1, 1)], values=T(6, 2),
         accumulate=accumulate, unsafe=False, **INOUT)  # fmt: skip
    case("aclnnIndexPutImpl", _put, NUMERIC, self=T(6, 4), indices=[I(5, 0, 3), I(1, 1, 2)], values=T(1),
         accumulate=accumulate, unsafe=False, **INOUT)  # fmt: skip
    case("aclnnInplacePut", lambda self, index, source, accumulate: self.put(index, source, accumulate), NUMERIC,
         self=T(3, 4), index=I(0, -1, 5), source=T(3), accumulate=accumulate, **INOUT)  # fmt: skip
case("aclnnIndexPutImpl", _put, NUMERIC, self=T(6, 4), indices=[P(300, high=6)], values=T(300, 4), accumulate=True,
     unsafe=False, layouts=("plain", "transposed"), **INOUT)  # fmt: skip

ONCE = I([0, 1, 2, 0], [2, 0, 1, 1], dtype=torch.int64)  # no place twice along dim 0
for name, marks in (("aclnnScatter", SAME), ("aclnnInplaceScatter", INOUT)):
    case(name, lambda self, dim, index, src: self.scatter(dim, index, src), EVERY, self=T(3, 5), dim=0, index=ONCE,
         src=T(2, 4), reduction=0, **marks)  # fmt: skip
    case(name, lambda self, dim, index, src: self.scatter(dim, index, src, reduce="add"), NUMERIC, self=T(3, 5), dim=1,
         index=P(3, 2, high=5), src=T(3, 2), reduction=1, **marks)  # fmt: skip
    case(name, lambda self, dim, index, src: self.scatter(dim, index, src, reduce="multiply"), NUMERIC, self=T(3, 5),
         dim=1, index=P(3, 2, high=5), src=T(3, 2), reduction=2, **marks)  # fmt: skip
for name, marks in (("aclnnScatterValue", SAME), ("aclnnInplaceScatterValue", INOUT)):
    case(name, lambda self, dim, index, src: self.scatter(dim, index, src), ALL, self=T(3, 5), dim=-1,
         index=P(3, 4, high=5), src=2, reduction=0, **marks)  # fmt: skip
    case(name, lambda self, dim, index, src: self.scatter(dim, index, src, reduce="add"), REAL, self=T(3, 5), dim=0,
         index=P(2, 5, high=3), src=1.5, reduction=1, **marks)  # fmt: skip
case("aclnnScatterAdd", lambda self, dim, index, src: self.scatter_add(dim, index, src), NUMERIC, self=T(3, 5), dim=0,
     index=P(40, 5, high=3), src=T(41, 5), **SAME)  # fmt: skip
NAMES = {1: "sum", 2: "prod", 3: "amax", 4: "amin", 5: "mean"}


def _scatter_reduce(self, dim, index, src, reduction, include_self):
    return self.scatter_reduce(dim, index, src, NAMES[reduction], include_self=include_self)


for name, marks in (("aclnnScatterReduce", SAME), ("aclnnInplaceScatterReduce", INOUT)):
    for reduction in NAMES:
        for include in (True, False):
            case(name, _scatter_reduce, REAL + [torch.int64, torch.int32], self=T(4, 5), dim=0, index=P(6, 5, high=3),
                 src=T(6, 5), reduction=reduction, include_self=include, **marks)  # fmt: skip

for name in ("aclnnIndexAdd", "aclnnIndexAddV2"):
    extra = {"mode": 0} if name.endswith("V2") else {}
    case(name, lambda self, dim, index, source, alpha: self.index_add(dim, index, source, alpha=alpha), NUMERIC,
         self=T(3, 4, 5), dim=1, index=P(6, high=4), source=T(3, 6, 5), alpha=2, **extra,
         **SAME)  # fmt: skip
    case(name, lambda self, dim, index, source: self.index_add(dim, index, source), REAL + COMPLEX, self=T(7, 3),
         dim=0, index=P(50, high=7), source=T(50, 3), alpha=1, **extra, **SAME)  # fmt: skip
for name, marks in (("aclnnIndexCopy", SAME), ("aclnnInplaceIndexCopy", INOUT)):
    case(name, lambda self, dim, index, source: self.index_copy(dim, index, source), EVERY, self=T(3, 4, 5), dim=1,
         index=I(3, 0), source=T(3, 2, 5), **marks)  # fmt: skip
for name, marks in (("aclnnIndexFill", SAME), ("aclnnInplaceIndexFill", INOUT)):
    case(name, lambda self, dim, index, value: self.index_fill(dim, index, value), ALL, self=T(3, 4, 5), dim=1,
         index=I(3, 0), value=3, **marks)  # fmt: skip
for name, marks in (("aclnnIndexFillTensor", SAME), ("aclnnInplaceIndexFillTensor", INOUT)):
    case(name, lambda self, dim, positions, value: self.index_fill(dim, torch.tensor(positions), value), ALL,
         self=T(3, 4, 5), dim=-1, positions=[4, 1], value=3, **marks)  # fmt: skip


GATHERED = [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool]


def _nd_update(self, indices, updates):
    self[tuple(indices.unbind(-1))] = updates
    return self


case("aclnnScatterNdUpdate", _nd_update, EVERY, self=T(4, 5, 3), indices=I([3], [0]), updates=T(2, 5, 3), **INOUT)
case("aclnnScatterNdUpdate", _nd_update, REAL, self=T(4, 5, 3), indices=I([3, 1], [0, 4]), updates=T(2, 3), **INOUT)


for indices in (I([3], [0]), I([3, 1], [0, 4]), P(2, 2, 3, high=3), I([3, 1], [0, 4], dtype=torch.int32)):
    case("aclnnGatherNd", lambda self, indices: self[tuple(indices.long().unbind(-1))], GATHERED, self=T(4, 5, 3),
         indices=indices, negative=False, **SAME)  # fmt: skip
case("aclnnGatherNd", lambda self, indices: self[tuple(indices.unbind(-1))], GATHERED, self=T(4, 5, 3),
     indices=I([-1, 1], [0, -5]), negative=True, **SAME)  # fmt: skip
for indices, shape in ((I([3], [0]), (2, 5, 3)), (I([3, 1], [0, 4]), (2, 3))):
    case("aclnnScatterNd", lambda self, indices, updates: _nd_update(self.clone(), indices, updates), EVERY,
         self=T(4, 5, 3), indices=indices, updates=T(*shape), **SAME)  # fmt: skip


def _slices_update(self, indices, updates, axis):
    for b, start in enumerate(indices.tolist()):
        self[b].narrow(axis, start, updates.shape[axis]).copy_(updates[b])
    return self


case("aclnnInplaceScatterUpdate", _slices_update, EVERY, self=T(2, 3, 6, 4), indices=I(4, 1), updates=T(2, 3, 2, 4),
     axis=-2, **INOUT)  # fmt: skip


def _dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq):
    return torch.ops.aten.embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)


for padding, scale in ((-1, False), (3, False), (2, True)):
    case("aclnnEmbeddingDenseBackward", _dense_backward, REAL, grad=T(5, 6, 9), indices=P(5, 6, high=7), num_weights=8,
         padding_idx=padding, scale_grad_by_freq=scale)  # fmt: skip
case("aclnnEmbeddingRenorm", lambda self, indices: torch.embedding_renorm_(self, indices, 1.5, 2.0), REAL,
     self=T(6, 9), indices=P(2, 3, high=6), max_norm=1.5, norm_type=2.0)  # fmt: skip
case("aclnnEmbeddingRenorm", lambda self, indices: torch.embedding_renorm_(self.clone(), indices, 1.5, 0.0), REAL,
     self=T(6, 9), indices=P(2, 3, high=6), max_norm=1.5, norm_type=0.0)  # fmt: skip


def coalesced(unique_len, unique_indices, indices, values):
    places = unique_indices.long()
    new_indices = torch.zeros(len(unique_len), indices.shape[1], dtype=indices.dtype)
    new_indices[places] = indices
    return new_indices, values.new_zeros(len(unique_len), *values.shape[1:]).index_add(0, places, values)


for places in (torch.int32, torch.int64):
    for width in ((), (3,), (2, 2)):
        case("aclnnCoalesceSparse", coalesced, REAL + INTEGER[:2], unique_len=I(9, 4, 1, dtype=places),
             unique_indices=I(2, 0, 1, 0, 2, dtype=places), values=T(5, *width), layouts=("plain", "transposed"),
             indices=T(1, values=lambda g: torch.tensor([[3, 1], [0, 2], [1, 1], [0, 2], [3, 1]]), dtype=torch.int64),
             out_dtypes={"new_values": None})  # fmt: skip

case("aclnnOneHot", lambda self: F.one_hot(self.long(), 5), [torch.int64, torch.int32], self=P(3, 4, high=5), depth=5,
     on=I([1]), off=I([0]), axis=-1, out_dtypes={"out": torch.int64})  # fmt: skip
case("aclnnOneHot", lambda self: F.one_hot(self.long(), 5).movedim(-1, 0) * 4 + 3, INTEGER, self=P(3, 4, high=5),
     depth=5, on=I([7]), off=I([3]), axis=0, out_dtypes={"out": torch.int64})  # fmt: skip
