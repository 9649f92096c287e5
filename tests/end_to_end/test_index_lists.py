# SPDX-License-Identifier: Apache-2.0
"""x[i, :, m] read and written, for each dtype, with positions and masks on any axes: as on the CPU."""

import itertools

import pytest
import torch
import torch_npu  # noqa: F401

DTYPES = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool, torch.float32, torch.float16,
          torch.bfloat16]  # fmt: skip
SIZES = (4, 3, 5, 2)


def filled(shape, dtype, seed):
    drawn = torch.randint(0, 50, tuple(shape), generator=torch.Generator().manual_seed(seed))
    return drawn.to(dtype)


def positions(size, count):
    """`count` places, negative ones among them, none named twice."""
    return torch.tensor([(3 * k + 1) % size - (size if k % 2 else 0) for k in range(count)])


def lists(rank):
    """All combinations that index some of `rank` axes by two positions each, or by masks that hold at two places."""
    for kinds in itertools.product((None, "positions", "mask"), repeat=rank):
        if any(kinds):
            yield tuple(index(kind, SIZES[axis]) for axis, kind in enumerate(kinds))


def index(kind, size):
    if kind is None:
        return slice(None)
    return positions(size, 2) if kind == "positions" else torch.arange(size) % size < 2


def on_npu(indices):
    return tuple(one if isinstance(one, slice) else one.npu() for one in indices)


def values_for(selected):
    """A number, a tensor of the whole shape, one that is repeated along the first axis, one element."""
    yield 7
    yield filled(selected.shape, selected.dtype, 3)
    yield filled((1, *selected.shape[1:]), selected.dtype, 4)
    yield filled((1,), selected.dtype, 5)


def to_npu(value):
    return value.npu() if isinstance(value, torch.Tensor) else value


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_lists_of_positions_and_masks(rank, dtype):
    x = filled(SIZES[:rank], dtype, 1)
    for indices in lists(rank):
        there = on_npu(indices)
        assert torch.equal(x.npu()[there].cpu(), x[indices]), indices
        for value in values_for(x[indices]):
            want, got = x.clone(), x.npu()
            want[indices] = value
            got[there] = to_npu(value)
            assert torch.equal(got.cpu(), want), (indices, value)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float32], ids=str)
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_values_of_a_place_named_twice_are_added(rank, dtype):
    x = filled(SIZES[:rank], dtype, 1)
    for axis in range(rank):
        twice = (slice(None),) * axis + (torch.tensor([1, -1, 1]),)
        for value in values_for(x[twice]):
            given = value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=dtype)
            place = [None] * axis + [twice[axis]]
            want = torch.ops.aten.index_put(x, place, given, True)
            got = torch.ops.aten.index_put(x.npu(), [None] * axis + [twice[axis].npu()], given.npu(), True)
            assert torch.equal(got.cpu(), want), (axis, value)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_an_index_that_selects_nothing(dtype):
    nothing = torch.tensor([], dtype=torch.int64)
    x = filled(SIZES, dtype, 1)
    every = slice(None)
    for indices in [(nothing,), (every, nothing), (nothing, nothing), (every, nothing, every, nothing)]:
        there = on_npu(indices)
        assert x.npu()[there].shape == x[indices].shape
        for value in (7, filled(x[indices].shape, dtype, 3)):
            got = x.npu()
            got[there] = to_npu(value)
            assert torch.equal(got.cpu(), x), (indices, value)
